package probe

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
)

// The operations of the contract.
const (
	ListPets      = "GET /pets"
	CreatePet     = "POST /pets"
	GetPet        = "GET /pets/{petId}"
	SubmitMessage = "POST /messages"
)

// Request is a request to the target.
type Request struct {
	Method      string
	Path        string // relative to the base URL, or to that of the messages, escaped, with its query
	Credential  Credential
	ContentType string            // "": no field
	Body        []byte            // nil: none
	Chunked     bool              // the body is sent in chunks, without its length
	Header      map[string]string // instead of the usual fields with these names; an empty value: no such field

	Intent Intent
}

// Intent is what is known of a request before it is sent: what its client wants, or what is
// wrong with it.
type Intent struct {
	// Unusual says what is unusual or wrong about the request. It completes "the request
	// has …". "": nothing.
	Unusual string

	// A valid body asks for a pet or submits a text. With a wrong one, and without a body,
	// both are nil.
	Pet  *NewPet
	Text *string

	// FailsCheck is the ID of the check that fails if the target accepts the body, which is wrong.
	// Most of these bodies must get 400. "": the body is not wrong.
	FailsCheck string

	// MayRefuse says how the target may refuse the request, although it is valid.
	MayRefuse Refusal

	// WarnsCheck is the ID of the check that warns if the target refuses the request. "": none does.
	WarnsCheck string

	// After is the status of the pet that was added before this one, which has none.
	After string

	// Spelled is the integer that the path or the query has in another spelling than that of
	// its decimal digits. 0: none.
	Spelled int64
}

// Refusal says how a target may refuse a valid request.
type Refusal int

const (
	MustAccept   Refusal = iota
	With400              // the contract has 400 for values that are not valid, and does not say which those are
	With4xx              // with any 4xx
	WithAnything         // in any way: the contract says nothing about such requests
)

// Get returns a GET request with the valid key.
func Get(path string) Request {
	return Request{Method: http.MethodGet, Path: path, Credential: ValidKey()}
}

// Post returns the request for an operation with the valid key and a JSON body ("": none).
func Post(operation, body string, intent Intent) Request {
	_, path, _ := strings.Cut(operation, " ")
	r := Request{
		Method:      http.MethodPost,
		Path:        path,
		Credential:  ValidKey(),
		ContentType: "application/json",
		Intent:      intent,
	}
	if body != "" {
		r.Body = []byte(body)
	}
	return r
}

// AddPet returns the request for a pet. The intent says what is unusual about it.
func AddPet(n NewPet, intent Intent) Request {
	intent.Pet = &n
	return Post(CreatePet, n.JSON(), intent)
}

// SubmitText returns the request for a message. The intent says what is unusual about it.
func SubmitText(text string, intent Intent) Request {
	intent.Text = &text
	return Post(SubmitMessage, `{"message":`+QuoteJSON(text)+`}`, intent)
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
	if r.Chunked {
		hr.ContentLength = -1
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
