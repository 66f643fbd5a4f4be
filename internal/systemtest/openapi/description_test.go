package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"example.com/animalstore/petstore/httpapi"
)

// description is the document, prepared for comparing exchanges with it.
type description struct {
	doc *openapi3.T

	// What the document says only in words: the responses for the document
	// itself, for an unknown path, and for an unknown method.
	self             *openapi3.PathItem
	noPath, noMethod *openapi3.Operation
}

// loadDescription loads a document and forbids members that it does not name in
// responses. The document itself allows them, because clients ignore them.
func loadDescription(t *testing.T, raw []byte) *description {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(closeSchemas(t, raw, "Pet", "Message", "Error"))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	failure := doc.Components.Responses["InternalError"].Value
	withAllow := *failure
	withAllow.Headers = maps.Clone(failure.Headers)
	withAllow.Headers["Allow"] = requiredHeader()
	headers := openapi3.Headers{"ETag": requiredHeader(), "X-Request-ID": requiredHeader()}
	return &description{
		doc: doc,
		self: &openapi3.PathItem{Get: responding(map[int]*openapi3.Response{
			http.StatusOK: {Headers: headers, Content: openapi3.NewContentWithJSONSchema(&openapi3.Schema{
				Type: &openapi3.Types{"object"},
				Enum: []any{decoded(t, httpapi.OpenAPI())},
			})},
			http.StatusNotModified: {Headers: headers},
		})},
		noPath:   responding(map[int]*openapi3.Response{http.StatusNotFound: failure}),
		noMethod: responding(map[int]*openapi3.Response{http.StatusMethodNotAllowed: &withAllow}),
	}
}

func requiredHeader() *openapi3.HeaderRef {
	return &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Required: true, Schema: openapi3.NewStringSchema().NewRef(),
	}}}
}

// closeSchemas forbids members that the schemas do not name.
func closeSchemas(t *testing.T, raw []byte, names ...string) []byte {
	t.Helper()
	doc := decoded(t, raw)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for _, name := range names {
		schemas[name].(map[string]any)["unevaluatedProperties"] = false
	}
	closed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return closed
}

func decoded(t *testing.T, raw []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// responding returns an operation that has only responses.
func responding(responses map[int]*openapi3.Response) *openapi3.Operation {
	op := &openapi3.Operation{Responses: openapi3.NewResponsesWithCapacity(len(responses))}
	for status, response := range responses {
		op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: response})
	}
	return op
}

// find returns what the document says about a request, and the parameters in its
// path. An operation that is not in the document has no ID.
func (d *description) find(x exchange) (*routers.Route, map[string]string) {
	u, err := url.ParseRequestURI(x.Target)
	if err != nil || strings.Contains(strings.ToUpper(u.EscapedPath()), "%2F") { // which does not separate segments
		u = new(url.URL)
	}
	route := &routers.Route{Spec: d.doc, Path: u.Path, Method: x.Method}
	if x.Method == http.MethodHead {
		route.Method = http.MethodGet // documented in words: HEAD works if GET does
	}
	params := map[string]string{}
	if id, ok := strings.CutPrefix(u.Path, "/pets/"); ok && id != "" && !strings.Contains(id, "/") &&
		id != "." && id != ".." { // which clients remove from a path before they send it
		route.Path, params["petId"] = "/pets/{petId}", id
	}
	route.PathItem = d.doc.Paths.Value(route.Path)
	if route.Path == "/openapi.json" {
		route.PathItem = d.self
	}
	if route.PathItem == nil {
		route.PathItem, route.Operation = &openapi3.PathItem{}, d.noPath
		return route, params
	}
	route.Operation = route.PathItem.Operations()[route.Method]
	if route.Operation == nil {
		route.Operation = d.noMethod
	}
	return route, params
}

// check returns how the request and the response of an exchange differ from the
// document: invalid and err.
func (d *description) check(x exchange) (invalid, err error) {
	route, params := d.find(x)
	r, err := http.NewRequest(route.Method, "/", bytes.NewReader(x.RequestBody))
	if err != nil {
		return nil, err
	}
	r.Header = x.RequestHeader
	if u, err := url.ParseRequestURI(x.Target); err == nil {
		r.URL = u
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		ExcludeResponseBody:   x.Method == http.MethodHead,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc, // the document cannot know the keys
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	if route.Operation.OperationID != "" {
		invalid = openapi3filter.ValidateRequest(context.Background(), in)
	}
	if err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.Status, Header: x.Header, Options: options,
		Body: io.NopCloser(bytes.NewReader(x.Body)),
	}); err != nil {
		return invalid, err
	}
	if x.Method == http.MethodHead && len(x.Body) > 0 {
		return invalid, fmt.Errorf("the response to HEAD has a body")
	}
	return invalid, d.checkHeader(x, route)
}

// framing are header fields that need not be documented: OpenAPI has
// Content-Type elsewhere, and the others belong to HTTP itself.
var framing = []string{"Content-Type", "Content-Length", "Connection"}

// checkHeader reports a header field that the document does not have, and an
// Allow field that names other methods than it.
func (d *description) checkHeader(x exchange, route *routers.Route) error {
	known := slices.Clone(framing)
	for name := range route.Operation.Responses.Status(x.Status).Value.Headers {
		known = append(known, http.CanonicalHeaderKey(name))
	}
	for name := range x.Header {
		if !slices.Contains(known, name) {
			return fmt.Errorf("header field %s is not documented", name)
		}
	}
	if route.Operation != d.noMethod {
		return nil
	}
	var methods []string
	for method := range route.PathItem.Operations() {
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	if want := strings.Join(methods, ", "); x.Header.Get("Allow") != want {
		return fmt.Errorf("Allow: %s, but the document has %s", x.Header.Get("Allow"), want)
	}
	return nil
}
