package httpapi_test

import (
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// deprecated returns w with the header fields that every response of GET
// /pets/{petId} has.
func deprecated(w want) want {
	return w.with("Deprecation", "@1795132800").with("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT").with("Link", `<../pets>; rel="successor-version"`)
}

// TestRoutes: each path and method has its operation, and its header fields. No other
// response says that it is deprecated.
func TestRoutes(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const rex = `{"id":1,"name":"rex","categoryId":0}`
	clear(httpapi.OpenAPI()) // a caller may change its copy
	doc := want{status: 200, body: string(httpapi.OpenAPI())}
	not := func(w want) want { return w.with("Deprecation", "").with("Sunset", "").with("Link", "") }
	for range 2 { // other responses do not change the document, and the fields are not added up
		s.want(not(want{status: 200, body: "[" + rex + "]"}), gets("/pets /pets? /%70ets /pet%73 http://other/pets")...)
		s.want(deprecated(want{status: 200, body: rex}), gets("/pets/1 /pets/1?x=y /pets/1?%zz /pets/%31 http://other/pets/%31")...)
		s.want(deprecated(refused(404, "")), get("/pets/2"), get("/pets/x"))
		s.want(deprecated(refused(401, "")), request("GET /pets/1"))
		s.want(not(accepted), post("/messages", messageBody))
		s.want(not(doc), get("/openapi.json"), request("GET /openapi.json", "Authorization: Bearer nope"), request("GET /openapi.json?x=%zz"))
	}
	s.want(not(created), post("/pets", rexBody))
	s.want(not(noPath), gets("/pets/1/ /OpenAPI.json /openapi.json/ /openapi")...)
	for target, allow := range map[string]string{ // also to a client without a key
		"/pets": "GET, HEAD, POST", "/pets/1": "GET, HEAD", "/messages": "POST", "/openapi.json": "GET, HEAD",
	} {
		s.want(not(refused(405, allow)).with("Allow", allow), request("PUT "+target))
	}
	// HEAD where there is no GET has no body either.
	if r := send(t, s.h, request("HEAD /messages", authorized)); r.Status != 405 || r.Body != "" || r.Header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", r)
	}
}

// TestHandlers: a handler serves only its own paths, and needs its store.
func TestHandlers(t *testing.T) {
	s := newServer(t, nil)
	s.h = httpapi.New(s.store, testKeys, nil)
	hello := post("/messages", messageBody)
	s.want(found, get("/pets"))
	s.want(noPath, hello, request("POST /messages"))

	s.h = httpapi.New(nil, testKeys, &httpapi.Options{Messages: s.store})
	s.want(accepted, hello)
	s.want(noPath, gets("/pets /pets/1")...)

	s.h = s.handler(s.store, nil, nil)
	s.want(refused(401, "a credential is required"), get("/pets"))

	defer func() {
		if recover() == nil {
			t.Error("a handler is made without a store")
		}
	}()
	httpapi.New(nil, testKeys, nil)
}
