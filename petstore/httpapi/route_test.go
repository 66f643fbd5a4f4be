package httpapi_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestPaths(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const rex = `{"id":1,"name":"rex","categoryId":0}`
	s.want(want{status: 200, body: "[" + rex + "]"}, gets("", "/pets /pets? /%70ets /pet%73 http://other/pets")...)
	s.want(want{status: 200, body: rex}, gets("", "/pets/1 /pets/1?x=y /pets/1?%zz /pets/%31 http://other/pets/%31")...)
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
	s.serve(httpapi.New(s.store, testKeys, nil))
	hello := post("/messages", messageBody)
	s.want(found, get("/pets"))
	s.want(noPath, hello, request("POST /messages"))

	s.serve(httpapi.NewMessages(s.store, testKeys, nil))
	s.want(accepted, hello)
	s.want(noPath, gets("", "/pets /pets/1 /openapi.json")...)
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
	if r := send(t, s.addr, request("HEAD /messages", authorized)); r.Status != 405 || r.Body+r.Rest != "" || r.Header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", r)
	}
}

// FuzzPath compares the routing with one that reads the path segment by segment.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"/pets", "/pets/1", "/pets/%31", "/pets%2F1", "/pets/", "//pets", "/pets/./1", "/pets/-1", "/pets/01", "/p%65ts",
		"/pets/9223372036854775808", "http://h/pets/1", "/pets/%2e", "*", "/pets/1?x", "/pets/1;a",
	} {
		f.Add(seed)
	}
	store := memory.New(nil)
	if _, err := store.CreatePet(context.Background(), petstore.NewPet{}, petstore.Once{}); err != nil {
		f.Fatal(err)
	}
	h := httpapi.New(store, testKeys, nil)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return // net/http responds
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = u
		r.URL.RawQuery = ""
		got := perform(t, h, r)

		segments := strings.Split(u.EscapedPath(), "/")
		for i := range segments {
			if segments[i], err = url.PathUnescape(segments[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := 404
		if len(segments) > 1 && segments[0] == "" && segments[1] == "pets" &&
			(len(segments) == 2 || len(segments) == 3 && segments[2] == "1") {
			want = 200
		}
		if got.Status != want {
			t.Fatalf("%q: status %d, want %d", target, got.Status, want)
		}
	})
}
