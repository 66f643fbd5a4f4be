// Package probe has the HTTP exchanges of a conformance run: a [Client] sends
// requests to the target and records the responses as they came, [Exchange.JSON] and
// others read their JSON, and a [Redactor] hides the API key in what is printed.
package probe

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
)

// Request is a request to the target.
type Request struct {
	Method      string
	Path        string // relative to the base URL, or to that of the messages, escaped, with its query
	Credential  Credential
	ContentType string            // "": no field
	Body        []byte            // nil: none
	Header      map[string]string // instead of the usual fields with these names; an empty value: no such field
	Python      string            // an expression with the value of Body, which is long or has a NUL; "": it does not
	Meaning     any               // what the caller knows of the request
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

// Fields returns the header fields of r except Authorization, by name.
func (r Request) Fields() map[string]string {
	fields := map[string]string{
		"Accept":          "application/json",
		"Accept-Encoding": "identity",
		"User-Agent":      "petstore-conformance",
		"Content-Type":    r.ContentType,
	}
	maps.Copy(fields, r.Header)
	maps.DeleteFunc(fields, func(_, value string) bool { return value == "" })
	return fields
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
	for name, value := range r.Fields() {
		hr.Header[name] = []string{value}
	}
	hr.Close = r.Header["Connection"] == "close" // then no request may follow (RFC 9112, section 9.6)
	if r.Credential.value != nil {
		hr.Header["Authorization"] = []string{r.Credential.value(key)}
	}
	return hr, nil
}
