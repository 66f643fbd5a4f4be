package wire

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
)

// Request is a request before it is sent.
type Request struct {
	Method, URL string // the method is GET or POST
	Credential  Credential
	// Header has the fields that differ from those of every request, which are Accept:
	// application/json, Accept-Encoding: identity and a User-Agent. An empty value leaves one out.
	Header map[string]string
	Body   []byte // nil: none
}

var usual = map[string]string{"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "petstore-conformance"}

// Fields returns the header fields that are sent, without Authorization.
func (q Request) Fields() map[string]string {
	fields := maps.Clone(usual)
	maps.Copy(fields, q.Header)
	maps.DeleteFunc(fields, func(_, value string) bool { return value == "" })
	return fields
}

// Accepts reports whether the response to q may have a content coding. Without
// Accept-Encoding it may have any (RFC 9110, section 12.5.3).
func (q Request) Accepts(coding string) bool {
	accepted := q.Fields()["Accept-Encoding"]
	return accepted == "" || strings.Contains(accepted, coding)
}

func (q Request) http(ctx context.Context, key string) (*http.Request, error) {
	var body io.Reader
	if q.Body != nil {
		body = bytes.NewReader(q.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, q.Method, q.URL, body)
	if err != nil {
		return nil, err
	}
	hr.Header["User-Agent"] = nil // or net/http adds its own
	for name, value := range q.Fields() {
		hr.Header[name] = []string{value}
	}
	if q.Header["Transfer-Encoding"] != "" {
		hr.ContentLength = -1
	}
	hr.Close = q.Header["Connection"] == "close" // then no request may follow (RFC 9112, section 9.6)
	if q.Credential.Value != nil {
		hr.Header["Authorization"] = []string{q.Credential.Value(key)}
	}
	return hr, nil
}
