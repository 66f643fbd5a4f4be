package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
)

// TestServeOpenAPI: every client gets the document, without a key, and one that
// has it gets 304.
func TestServeOpenAPI(t *testing.T) {
	s := newServer(t, nil)
	clear(httpapi.OpenAPI()) // a caller may change its copy
	doc := want{status: 200, body: string(httpapi.OpenAPI())}
	r := send(t, s.addr, request("GET /openapi.json"))
	etag := r.Header.Get("ETag")
	if diff := doc.diff(r); diff != "" || !regexp.MustCompile(`^"[!#-~]{10,}"$`).MatchString(etag) {
		t.Fatalf("ETag: %q (-want +got):\n%.1000s", etag, diff)
	}
	doc = doc.with("Etag", etag)
	for range 20 { // other responses do not change the document
		s.want(doc, get("/openapi.json"), request("GET /openapi.json", "Authorization: Bearer nope"), request("GET /openapi.json?x=%zz"))
		s.want(found, get("/pets"))
	}
	for _, tags := range []string{
		`"x", W/"y"`, etag[:len(etag)-2] + `"`, strings.Trim(etag, `"`), "", ",, ,", `"x` + etag + `"`,
	} {
		s.want(doc, request("GET /openapi.json", "If-None-Match: "+tags))
	}
	for _, tags := range []string{
		etag, "W/" + etag, "*", `"x",W/"y,z" , ` + etag, etag + `,"x"`, "\"x\"\r\nIf-None-Match: " + etag,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := send(t, s.addr, request(method+" /openapi.json", "If-None-Match: "+tags))
			want := response{Status: 304, Header: http.Header{"Etag": {etag}, "Date": r.Header["Date"], "X-Request-Id": r.Header["X-Request-Id"]}}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tags, method, diff)
			}
		}
	}
	s.want(refused(405, "").with("Allow", "GET, HEAD").with("Etag", ""), request("POST /openapi.json", authorized), request("PUT /openapi.json"))
	s.want(noPath, gets("", "/OpenAPI.json /openapi.json/ /openapi")...)
}
