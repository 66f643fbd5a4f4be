// Package probe has the HTTP exchanges of a conformance run: a [Client] sends
// requests to the target and records the responses as they came, [Exchange.JSON] and
// others read their JSON, and a [Redactor] hides the API key in what is printed.
package probe

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Request is a request to the target.
type Request struct {
	Method      string
	Path        string // relative to the base URL, or to that of the messages, escaped, with its query
	Credential  Credential
	ContentType string  // "": no field
	Body        []byte  // nil: none
	Header      []Field // instead of the usual fields with these names; an empty value: no such field
	Python      string  // an expression with the value of Body; "": Body is short
	Meaning     any     // what the caller knows of the request
}

// Get returns a GET request with the valid key.
func Get(path string) Request {
	return Request{Method: http.MethodGet, Path: path, Credential: ValidKey()}
}

// Post returns a POST request with the valid key and a JSON body ("": none).
func Post(path, body string) Request {
	r := Request{Method: http.MethodPost, Path: path, Credential: ValidKey(), ContentType: "application/json"}
	if body != "" {
		r.Body = []byte(body)
	}
	return r
}

// ForMessages reports whether r is relative to the base URL of the messages.
func (r Request) ForMessages() bool { return r.Path == "/messages" }

// Operation returns the method and path of r as the contract writes them, as in
// GET /pets/{petId}.
func (r Request) Operation() string {
	path, _, _ := strings.Cut(r.Path, "?")
	if id, ok := strings.CutPrefix(path, "/pets/"); ok && id != "" && !strings.Contains(id, "/") {
		path = "/pets/{petId}"
	}
	return r.Method + " " + path
}

// With returns r with another credential.
func (r Request) With(c Credential) Request {
	r.Credential = c
	return r
}

// Field is a field of a header.
type Field struct{ Name, Value string }

// Fields returns the header fields of r except Authorization.
func (r Request) Fields() []Field {
	fields := []Field{
		{"Accept", "application/json"},
		{"Accept-Encoding", "identity"},
		{"User-Agent", "petstore-conformance"},
		{"Content-Type", r.ContentType},
	}
	for _, f := range r.Header {
		fields = slices.DeleteFunc(fields, func(usual Field) bool { return usual.Name == f.Name })
		fields = append(fields, f)
	}
	return slices.DeleteFunc(fields, func(f Field) bool { return f.Value == "" })
}

// Value returns the value of a header field of r. Empty: there is no such field.
func (r Request) Value(name string) string {
	for _, f := range r.Fields() {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// http returns r as a request of net/http.
func (r Request) http(ctx context.Context, url, key string) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, r.Method, url, body)
	if err != nil {
		return nil, err
	}
	hr.Header["User-Agent"] = nil // or net/http adds its own
	for _, f := range r.Fields() {
		hr.Header[f.Name] = []string{f.Value}
	}
	hr.Close = strings.EqualFold(r.Value("Connection"), "close") // then no request may follow (RFC 9112, section 9.6)
	if r.Credential.value != nil {
		hr.Header["Authorization"] = []string{r.Credential.value(key)}
	}
	return hr, nil
}
