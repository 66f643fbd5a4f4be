package httpapi_test

import (
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// TestServeOpenAPI: every client gets the document, without a key.
func TestServeOpenAPI(t *testing.T) {
	s := newServer(t, nil)
	clear(httpapi.OpenAPI()) // a caller may change its copy
	doc := want{status: 200, body: string(httpapi.OpenAPI())}
	for range 20 { // other responses do not change the document
		s.want(doc, get("/openapi.json"), request("GET /openapi.json", "Authorization: Bearer nope"), request("GET /openapi.json?x=%zz"))
		s.want(found, get("/pets"))
	}
	s.want(refused(405, "").with("Allow", "GET, HEAD"), request("POST /openapi.json", authorized), request("PUT /openapi.json"))
	s.want(noPath, gets("/OpenAPI.json /openapi.json/ /openapi")...)
}
