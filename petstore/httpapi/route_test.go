package httpapi_test

import (
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// TestRoutes: each path and method has its operation, and its header fields. No other
// response than those of GET /pets/{petId} says that it is deprecated.
func TestRoutes(t *testing.T) {
	s := newServer(t, nil)
	s.want(created, post("/pets", rexBody))
	const rex = `{"id":1,"name":"rex","categoryId":1}`
	doc := want{status: 200, body: string(httpapi.OpenAPI())}
	clear(httpapi.OpenAPI()) // a caller may change its copy
	not := func(w want) want { return w.with("Deprecation", "").with("Sunset", "").with("Link", "") }
	deprecated := func(w want) want {
		return w.with("Deprecation", "@1795132800").with("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT").with("Link", `<../pets>; rel="successor-version"`)
	}
	for range 2 { // other responses do not change the document, and the fields are not added up
		s.want(not(want{status: 200, body: "[" + rex + "]"}), gets("/pets /pets? /%70ets http://other/pets")...)
		s.want(deprecated(want{status: 200, body: rex}), gets("/pets/1 /pets/1?%zz /pets/%31")...)
		s.want(deprecated(refused(404, "")), gets("/pets/2 /pets/x")...)
		s.want(deprecated(refused(401, "")), request("GET /pets/1"))
		s.want(not(accepted), post("/messages", messageBody))
		s.want(not(doc), get("/openapi.json"), request("GET /openapi.json", "Authorization: Bearer nope"))
	}
	s.want(not(created), post("/pets", rexBody))
	s.want(not(noPath), get("/pets/1/"))
	for target, allow := range map[string]string{ // also to a client without a key
		"/pets": "GET, HEAD, POST", "/pets/1": "GET, HEAD", "/messages": "POST", "/openapi.json": "GET, HEAD",
	} {
		s.want(not(refused(405, "method: this path has only "+allow)).with("Allow", allow), request("PUT "+target), request("get "+target))
	}
	// HEAD where there is no GET has no body either.
	if r := send(t, s.h, request("HEAD /messages", authorized)); r.Status != 405 || r.Body != "" || r.Header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", r)
	}
}

// TestHandlers: New needs a store. Without an Authenticator nobody gets in.
func TestHandlers(t *testing.T) {
	s := newServer(t, nil)
	s.h = s.handler(s.store, nil, nil)
	s.want(refused(401, "a credential is required"), get("/pets"))
	defer func() {
		if recover() == nil {
			t.Error("a handler is made without a store")
		}
	}()
	httpapi.New(nil, testKeys, nil)
}
