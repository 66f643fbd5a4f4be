package openapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestAgreement: on every request of the conformance suite, the response is in the
// document, and the handler accepts only what the document allows.
func TestAgreement(t *testing.T) {
	doc := loadStrict(t)
	store := memory.New(nil)
	h := httpapi.New(store, testserver.Authenticator, &httpapi.Options{Messages: store})
	var judged atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		testserver.Changed(h, func(r *http.Request, rec *httptest.ResponseRecorder) {
			if route, id := find(doc, r); route != nil {
				judged.Add(1)
				if err := judge(route, id, r, body, rec); err != nil {
					t.Errorf("%s %.300s %v %.300s: %d %v\n%.300s\n%v", r.Method, r.URL, r.Header, body, rec.Code, rec.Header(), rec.Body, err)
				}
			}
		}).ServeHTTP(w, r)
	})
	conformancetest.RunHandler(t, handler, "", testserver.Key,
		&conformance.Options{Timeout: 5 * time.Minute}) // the machine may be busy
	if n := judged.Load(); n < 500 {
		t.Errorf("only %d exchanges", n)
	}
}

// loadStrict returns the document without the room that it leaves for other servers of
// the contract and for later versions of this one.
func loadStrict(t *testing.T) *openapi3.T {
	t.Helper()
	doc := load(t)
	for _, op := range operations(doc) {
		op.Responses.Delete("default")
		op.Responses.Delete("2XX")
	}
	for name, field := range doc.Components.Headers {
		field.Value.Required = name != "NextLink" && name != "RequestID"
	}
	schemas := doc.Components.Schemas
	for _, name := range []string{"Pet", "Message", "Error"} {
		schemas[name].Value.UnevaluatedProperties.Has = new(false)
	}
	code := schemas["ErrorCode"].Value
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)`").FindAllStringSubmatch(code.Description, -1) {
		code.Enum = append(code.Enum, row[1])
	}
	return doc
}

// find returns the operation that a request is for, or nil, and the ID in its path.
func find(doc *openapi3.T, r *http.Request) (route *routers.Route, id string) {
	path, method := r.URL.EscapedPath(), r.Method
	if rest, ok := strings.CutPrefix(path, "/pets/"); ok && !slices.Contains([]string{"", ".", ".."}, rest) &&
		!strings.Contains(strings.ToUpper(strings.ReplaceAll(rest, "/", "%2F")), "%2F") {
		path, id = "/pets/{petId}", strings.TrimPrefix(r.URL.Path, "/pets/")
	}
	if method == http.MethodHead {
		method = http.MethodGet // documented in words: HEAD works if GET does
	}
	item := doc.Paths.Value(path)
	if item == nil || item.Operations()[method] == nil {
		return nil, ""
	}
	return &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: item.Operations()[method]}, id
}

// judge returns an error if the response differs from the document, and if the request
// was accepted and does.
func judge(route *routers.Route, id string, r *http.Request, body []byte, rec *httptest.ResponseRecorder) error {
	head := r.Method == http.MethodHead
	if head && rec.Body.Len() > 0 {
		return fmt.Errorf("the response to HEAD has a body")
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		ExcludeResponseBody:   head,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc, // the document cannot know the keys
	}
	r = r.Clone(r.Context())
	r.Method, r.Body = route.Method, io.NopCloser(bytes.NewReader(body))
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: map[string]string{"petId": id}, Route: route, Options: options}
	if rec.Code < 300 {
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return fmt.Errorf("the document forbids the request: %w", err)
		}
	}
	if err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Options: options,
		Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())),
	}); err != nil {
		return err
	}
	known := []string{"Content-Type", "Content-Length"} // which OpenAPI describes elsewhere, and HTTP does
	for name := range route.Operation.Responses.Status(rec.Code).Value.Headers {
		known = append(known, http.CanonicalHeaderKey(name))
	}
	for name := range rec.Header() {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the header field %s is not documented", name)
		}
	}
	return nil
}
