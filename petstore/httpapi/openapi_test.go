package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestServeOpenAPI: every client gets the document, without a key, and one that
// has it gets 304.
func TestServeOpenAPI(t *testing.T) {
	s := newServer(t, nil)
	doc := string(httpapi.OpenAPI())
	a := send(t, s.addr, request("GET /openapi.json"))
	if err := a.check(want{status: 200, body: doc}); err != nil {
		t.Fatal(err)
	}
	etag := a.header.Get("ETag")
	if !regexp.MustCompile(`^"[!#-~]{10,}"$`).MatchString(etag) {
		t.Fatalf("ETag: %q", etag)
	}
	withTag := map[string]string{"Etag": etag}
	ok := want{status: 200, body: doc, header: withTag}
	method := want{status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "GET, HEAD", "Etag": ""}}
	nothing := want{status: 404, code: "not_found", says: "path"}
	s.run([]rawCase{
		{"with a key", get("/openapi.json"), ok},
		{"with a bad key", request("GET /openapi.json", "Authorization: Bearer nope"), ok},
		{"with a query", request("GET /openapi.json?x=%zz"), ok},
		{"another tag", request("GET /openapi.json", `If-None-Match: "x", W/"y"`), ok},
		{"part of the tag", request("GET /openapi.json", "If-None-Match: "+etag[:len(etag)-2]+`"`), ok},
		{"the tag without quotes", request("GET /openapi.json", "If-None-Match: "+strings.Trim(etag, `"`)), ok},
		{"empty", request("GET /openapi.json", "If-None-Match:"), ok},
		{"commas", request("GET /openapi.json", "If-None-Match: ,, ,"), ok},
		{"the tag within another", request("GET /openapi.json", `If-None-Match: "x`+etag+`"`), ok},
		{"POST", request("POST /openapi.json", authorized), method},
		{"PUT, without a key", request("PUT /openapi.json"), method},
		{"case", get("/OpenAPI.json"), nothing},
		{"slash", get("/openapi.json/"), nothing},
		{"without the ending", get("/openapi"), nothing},
	})

	for name, fields := range map[string][]string{
		"the tag":         {"If-None-Match: " + etag},
		"weak":            {"If-None-Match: W/" + etag},
		"any":             {"If-None-Match: *"},
		"last of a list":  {`If-None-Match: "x",W/"y,z" , ` + etag},
		"first of a list": {"If-None-Match: " + etag + `,"x"`},
		"of two fields":   {`If-None-Match: "x"`, "If-None-Match: " + etag},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := send(t, s.addr, request(method+" /openapi.json", fields...))
			a.header.Del("Date")
			a.header.Del("X-Request-Id")
			if diff := cmp.Diff(http.Header{"Etag": {etag}}, a.header); a.status != 304 || a.body+a.rest != "" || diff != "" {
				t.Errorf("%s, %s: status %d, body %.50q, header fields (-want +got):\n%s", name, method, a.status, a.body+a.rest, diff)
			}
		}
	}

	h := send(t, s.addr, request("HEAD /openapi.json"))
	if h.status != 200 || h.body+h.rest != "" || h.header.Get("ETag") != etag || h.header.Get("Content-Length") != strconv.Itoa(len(doc)) {
		t.Errorf("HEAD: %+v", h)
	}
}

// TestOpenAPIUnderPrefix: the document is next to the operations.
func TestOpenAPIUnderPrefix(t *testing.T) {
	srv := httptest.NewServer(http.StripPrefix("/v1", httpapi.New(memory.New(nil), testKeys, nil)))
	defer srv.Close()
	if err := send(t, srv.Listener.Addr().String(), request("GET /v1/openapi.json")).check(want200); err != nil {
		t.Error(err)
	}
}

// TestOpenAPIStays: neither a caller that changes its copy nor other responses
// change the document.
func TestOpenAPIStays(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	doc := httpapi.OpenAPI()
	before := string(doc)
	clear(doc)
	for range 20 {
		for _, raw := range []string{request("GET /openapi.json"), get("/pets"), post("/pets", rexBody)} {
			send(t, s.addr, raw)
		}
	}
	if string(httpapi.OpenAPI()) != before {
		t.Error("the document has changed")
	}
	if err := send(t, s.addr, request("GET /openapi.json")).check(want{status: 200, body: before}); err != nil {
		t.Error(err)
	}
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
		for _, raw := range op.Parameters {
			p := deref[parameterObject](t, doc, raw)
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
	if doc.Paths["/messages"].Servers != nil || len(doc.Servers) != 1 {
		t.Fatalf("servers: %+v, for messages %+v; want one for all", doc.Servers, doc.Paths["/messages"].Servers)
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

	created := deref[responseObject](t, doc, doc.Paths["/pets"].Post.Responses["201"])
	if diff := cmp.Diff(map[string]linkObject{
		"getPet": {OperationID: "getPet", Parameters: map[string]string{"petId": "$response.body#/id"}},
	}, created.Links); diff != "" {
		t.Errorf("links of createPet (-want +got):\n%s", diff)
	}

	limit := deref[parameterObject](t, doc, doc.Paths["/pets"].Get.Parameters[0])
	if diff := cmp.Diff(map[string]any{
		"type": "integer", "minimum": float64(petstore.MinLimit), "maximum": float64(petstore.MaxLimit), "default": float64(petstore.DefaultLimit),
	}, limit.Schema); diff != "" {
		t.Errorf("limit (-want +got):\n%s", diff)
	}
	status := decode[struct{ Enum []petstore.Status }](t, doc.Components["schemas"]["PetStatus"])
	if diff := cmp.Diff(petstore.Statuses(), status.Enum); diff != "" {
		t.Errorf("PetStatus (-want +got):\n%s", diff)
	}

	// Tools with floating-point numbers read larger ones wrong.
	for _, number := range regexp.MustCompile(`[:\[,] *-?[0-9]{10,}`).FindAllString(string(httpapi.OpenAPI()), -1) {
		t.Errorf("some tools lose the last digits of so large a number: %s", number)
	}
}
