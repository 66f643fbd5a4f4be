package httpapi_test

import (
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

func TestPaths(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const rex = `{"id":1,"name":"rex","categoryId":0}`
	s.want(want{status: 200, body: "[" + rex + "]"}, gets("/pets /pets? /%70ets /pet%73 http://other/pets")...)
	s.want(want{status: 200, body: rex}, gets("/pets/1 /pets/1?x=y /pets/1?%zz /pets/%31 http://other/pets/%31")...)
}

// TestRequired: New and NewMessages panic without what they need.
func TestRequired(t *testing.T) {
	for name, f := range map[string]func(){
		"no service": func() { httpapi.New(nil, testKeys, nil) },
		"no queue":   func() { httpapi.NewMessages(nil, testKeys, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestPathsOfHandlers: a handler serves only its own paths.
func TestPathsOfHandlers(t *testing.T) {
	s := newServer(t, nil)
	s.h = httpapi.New(s.store, testKeys, nil)
	hello := post("/messages", messageBody)
	s.want(found, get("/pets"))
	s.want(noPath, hello, request("POST /messages"))

	s.h = httpapi.NewMessages(s.store, testKeys, nil)
	s.want(accepted, hello)
	s.want(noPath, gets("/pets /pets/1 /openapi.json")...)
}

// TestAllow: a 405 says which methods there are, also to a client without a key.
func TestAllow(t *testing.T) {
	s := newServer(t, nil)
	for target, allow := range map[string]string{
		"/pets": "GET, HEAD, POST", "/pets/1": "GET, HEAD", "/messages": "POST", "/openapi.json": "GET, HEAD",
	} {
		s.want(refused(405, "").with("Allow", allow), request("PUT "+target))
	}
	s.want(noPath, request("PUT /cats"))
	// HEAD where there is no GET has no body either.
	if r := send(t, s.h, request("HEAD /messages", authorized)); r.Status != 405 || r.Body != "" || r.Header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", r)
	}
}
