package openapi

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"example.com/animalstore/petstore/httpapi"
)

// exactFields has the form of each header field that this handler sends. The
// document does not say it, because other servers of the contract may send others.
var exactFields = map[string]string{
	"AcceptIdempotencyKey": `^\?1$`,
	"NextLink":             `^<\?limit=[0-9]+(&status=(available|pending|sold))?&cursor=[A-Za-z0-9_-]+>; rel="next"$`,
	"Location":             `^pets/[1-9][0-9]*$`,
	"Deprecation":          `^@[0-9]+$`,
	"Sunset":               `^Thu, 05 Dec 2030 00:00:00 GMT$`,
	"SuccessorLink":        `^<\.\./pets>; rel="successor-version"$`,
	"WWWAuthenticate":      `^Bearer realm="petstore"(, error="invalid_token")?$`,
	"RequestID":            `^[A-Za-z0-9_.:/+=-]{1,128}$`,
	"RetryAfter":           `^[0-9]+$`,
}

// judge compares exchanges with the document.
type judge struct {
	doc *openapi3.T

	// What the document says only in words: the responses for an unknown path
	// and for an unknown method.
	noPath, noMethod *openapi3.Operation
}

// newJudge returns a judge of this handler. The document leaves room for other
// servers of the contract and for later versions of this one, so that clients
// generated from it accept what they send. Here that is forbidden.
func newJudge(t *testing.T) *judge {
	t.Helper()
	j := newTolerantJudge(t)
	for _, op := range j.operations() {
		op.Responses.Delete("default")
		op.Responses.Delete("2XX")
	}
	for name, field := range j.doc.Components.Headers {
		field.Value.Required = name != "NextLink" && name != "RequestID"
		field.Value.Schema.Value.Pattern = exactFields[name]
	}
	schemas := j.doc.Components.Schemas
	for _, name := range []string{"Pet", "Message", "Error"} {
		schemas[name].Value.UnevaluatedProperties.Has = new(false)
	}
	schemas["Pet"].Value.AllOf[1].Value.Properties["id"].Value.Min = new(1.0)
	schemas["Message"].Value.Properties["status"].Value.Enum = []any{"queued"}
	code := schemas["ErrorCode"].Value
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)`").FindAllStringSubmatch(code.Description, -1) {
		code.Enum = append(code.Enum, row[1])
	}
	return j
}

// newTolerantJudge returns a judge of any server, by the document alone.
func newTolerantJudge(t *testing.T) *judge {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	failure := doc.Components.Responses["InternalError"].Value
	withAllow := *failure
	withAllow.Headers = maps.Clone(failure.Headers)
	withAllow.Headers["Allow"] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Required: true, Schema: openapi3.NewStringSchema().NewRef(),
	}}}
	responding := func(status int, r *openapi3.Response) *openapi3.Operation {
		return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, &openapi3.ResponseRef{Value: r}))}
	}
	return &judge{
		doc:      doc,
		noPath:   responding(http.StatusNotFound, failure),
		noMethod: responding(http.StatusMethodNotAllowed, &withAllow),
	}
}

// operations returns the operations in the document by method and path.
func (j *judge) operations() map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for path, item := range j.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = op
		}
	}
	return all
}

// find returns what the document says about a request, and the parameters in its
// path. An operation that is not in the document has no ID.
func (j *judge) find(method string, u *url.URL) (*routers.Route, map[string]string) {
	route := &routers.Route{Spec: j.doc, Path: u.Path, Method: method}
	if strings.Contains(strings.ToUpper(u.EscapedPath()), "%2F") { // which does not separate segments
		route.Path = ""
	}
	if method == http.MethodHead {
		route.Method = http.MethodGet // documented in words: HEAD works if GET does
	}
	params := map[string]string{}
	if id, ok := strings.CutPrefix(route.Path, "/pets/"); ok && id != "" && !strings.Contains(id, "/") &&
		id != "." && id != ".." { // which clients remove from a path before they send it
		route.Path, params["petId"] = "/pets/{petId}", id
	}
	route.PathItem = j.doc.Paths.Value(route.Path)
	if route.PathItem == nil {
		route.PathItem, route.Operation = &openapi3.PathItem{}, j.noPath
		return route, params
	}
	route.Operation = route.PathItem.Operations()[route.Method]
	if route.Operation == nil {
		route.Operation = j.noMethod
	}
	return route, params
}

// check compares an exchange with the document: invalid says what is wrong with the
// request, and err what is wrong with the response. Each header field has to be in
// the document.
func (j *judge) check(r *http.Request, body []byte, rec *httptest.ResponseRecorder) (invalid, err error) {
	route, invalid, err := j.validate(r, body, rec)
	if err != nil {
		return invalid, err
	}
	if r.Method == http.MethodHead && rec.Body.Len() > 0 {
		return invalid, fmt.Errorf("the response to HEAD has a body")
	}
	return invalid, j.checkHeader(route, rec)
}

// validate does what check does, and allows any other header fields. It also
// returns what the document says about the request.
func (j *judge) validate(r *http.Request, body []byte, rec *httptest.ResponseRecorder) (route *routers.Route, invalid, err error) {
	route, params := j.find(r.Method, r.URL)
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		ExcludeResponseBody:   r.Method == http.MethodHead,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc, // the document cannot know the keys
	}
	r = r.Clone(r.Context())
	r.Method, r.Body = route.Method, io.NopCloser(bytes.NewReader(body))
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	if route.Operation.OperationID != "" {
		invalid = openapi3filter.ValidateRequest(r.Context(), in)
	}
	return route, invalid, openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Options: options,
		Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())),
	})
}

// checkHeader returns an error for a header field that the document does not have,
// and for an Allow field that names other methods than the document.
func (j *judge) checkHeader(route *routers.Route, rec *httptest.ResponseRecorder) error {
	// OpenAPI has Content-Type elsewhere, and Content-Length belongs to HTTP.
	known := []string{"Content-Type", "Content-Length"}
	for name := range route.Operation.Responses.Status(rec.Code).Value.Headers {
		known = append(known, http.CanonicalHeaderKey(name))
	}
	for name := range rec.Header() {
		if !slices.Contains(known, name) {
			return fmt.Errorf("header field %s is not documented", name)
		}
	}
	if route.Operation != j.noMethod {
		return nil
	}
	methods := slices.Collect(maps.Keys(route.PathItem.Operations()))
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	if got, want := rec.Header().Get("Allow"), strings.Join(methods, ", "); got != want {
		return fmt.Errorf("Allow: %s, but the document has %s", got, want)
	}
	return nil
}
