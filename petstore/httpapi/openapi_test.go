package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
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

// TestOpenAPIHolds: the document has the contract's operations and the model's
// values.
func TestOpenAPIHolds(t *testing.T) {
	doc := ourDocument(t)
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	got := map[string]string{}
	for where, op := range doc.operations() {
		got[where] = op.OperationID + " " + strings.Join(op.Tags, ",")
		if op.Security != nil {
			t.Errorf("%s has security of its own", where)
		}
		if op.Deprecated != (where == "GET /pets/{petId}") {
			t.Errorf("%s: deprecated is %t", where, op.Deprecated)
		}
		for _, p := range op.Parameters {
			p = doc.deref(p)
			if slices.Contains([]string{"cursor", "Idempotency-Key", "X-Request-ID"}, p.Name) && p.Schema["pattern"] == nil {
				t.Errorf("%s: %s has no pattern", where, p.Name)
			}
			if p.Name != "limit" && p.Name != "petId" && (p.Example != nil || p.Examples != nil) {
				t.Errorf("%s: %s has an example, which viewers would send with every request", where, p.Name)
			}
		}
	}
	if diff := cmp.Diff(map[string]string{
		"GET /pets":         "listPets animals",
		"POST /pets":        "createPet animals",
		"GET /pets/{petId}": "getPet animals",
		"POST /messages":    "submitMessage messages",
	}, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]map[string][]string{{"bearerAuth": {}}}, doc.Security); diff != "" {
		t.Errorf("security (-want +got):\n%s", diff)
	}
	if _, ok := doc.Paths["/messages"]["servers"]; ok || len(doc.Servers) != 1 {
		t.Fatalf("servers: %+v, for messages too: %t; want one for all", doc.Servers, ok)
	}
	for base, want := range map[string]string{
		"http://127.0.0.1:8080/v1":     "http://127.0.0.1:8080/v1/pets",
		"https://pets.example/api/v3":  "https://pets.example/api/v3/pets",
		"http://[::1]:99":              "http://[::1]:99/pets",
		"https://pets.example/a%2Fb/c": "https://pets.example/a%2Fb/c/pets",
	} {
		u, err := url.Parse(base + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		server, err := u.Parse(doc.Servers[0].URL)
		if err != nil || server.JoinPath("pets").String() != want {
			t.Errorf("below %s, the server is %v, %v", base, server, err)
		}
	}

	created := doc.deref(doc.Paths["/pets"]["post"].Responses["201"])
	if diff := cmp.Diff(map[string]link{"getPet": {"getPet", map[string]string{"petId": "$response.body#/id"}}}, created.Links); diff != "" {
		t.Errorf("links of createPet (-want +got):\n%s", diff)
	}
	limit := doc.deref(doc.Paths["/pets"]["get"].Parameters[0])
	if diff := cmp.Diff(map[string]any{
		"type": "integer", "minimum": float64(petstore.MinLimit), "maximum": float64(petstore.MaxLimit), "default": float64(petstore.DefaultLimit),
	}, limit.Schema); diff != "" {
		t.Errorf("limit (-want +got):\n%s", diff)
	}
	if want, got := fmt.Sprint(petstore.Statuses()), fmt.Sprint(doc.Components["schemas"]["PetStatus"].Enum); want != got {
		t.Errorf("PetStatus: %s, want %s", got, want)
	}

	// Tools with floating-point numbers read larger ones wrong.
	for _, number := range regexp.MustCompile(`[:\[,] *-?[0-9]{10,}`).FindAllString(string(httpapi.OpenAPI()), -1) {
		t.Errorf("some tools lose the last digits of so large a number: %s", number)
	}
}
