package conformance

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
	opList   = "GET /pets"
	opCreate = "POST /pets"
	opGet    = "GET /pets/{petId}"
	opSubmit = "POST /messages"
)

// request is a request to the target, and what is known of it before it is sent.
type request struct {
	method, path string // the path is relative to the base URL, or to that of the messages, escaped, with its query
	credential   credential
	header       fields // except Authorization
	body         []byte // nil: none

	what  string // is unusual or wrong about it: it completes "the request has …"
	allow allowed
	name  string // of the pet in the body; "": none, or an empty one
}

// fields are header fields.
type fields map[string]string

// usual are the fields of a request without a body.
var usual = fields{"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "petstore-conformance"}

// allowed is how the target may respond to a request, if the credential is valid.
type allowed int

const (
	success   allowed = iota
	or400             // the contract has 400 for values that are not valid, and does not say which those are
	or4xx             // any 4xx
	anything          // the contract says nothing about such requests, but an RFC does
	refusal           // the request is wrong
	undefined         // the contract does not say what the request means
)

func get(path string) request {
	return request{method: http.MethodGet, path: path, credential: validKey, header: usual}
}

// post returns a request with a JSON body ("": none). Like get, it has the valid key.
func post(op, body string) request {
	q := get(strings.TrimPrefix(op, "POST ")).set(fields{"Content-Type": "application/json"})
	q.method = http.MethodPost
	if body != "" {
		q.body = []byte(body)
	}
	return q
}

func add(n newPet) request {
	return post(opCreate, n.json()).naming(n.name)
}

// naming returns q, whose body has a pet with that name.
func (q request) naming(name string) request {
	q.name = name
	return q
}

func submit(text string) request { return post(opSubmit, `{"message":`+quoteJSON(text)+`}`) }

// as returns q with what is unusual or wrong about it, and how the target may respond.
func (q request) as(what string, allow allowed) request {
	q.what, q.allow = what, allow
	return q
}

// set returns q with these fields. An empty value removes one.
func (q request) set(f fields) request {
	q.header = maps.Clone(q.header)
	maps.Copy(q.header, f)
	maps.DeleteFunc(q.header, func(_, value string) bool { return value == "" })
	return q
}

func (q request) with(c credential) request {
	q.credential = c
	return q
}

func (q request) valid() bool       { return q.allow < refusal }
func (q request) hasKey() bool      { return q.credential.is(validKey) }
func (q request) forMessages() bool { return q.path == "/messages" }

// mayBeLost reports whether the target need not respond to q: it may close the connection of a
// body of more than 64 KiB.
func (q request) mayBeLost() bool { return len(q.body) > 64<<10 || q.allow == anything }

// op returns the method and path of q as the contract writes them.
func (q request) op() string {
	path, _, _ := strings.Cut(q.path, "?")
	if id, ok := strings.CutPrefix(path, "/pets/"); ok && id != "" && !strings.Contains(id, "/") {
		path = "/pets/{petId}"
	}
	return q.method + " " + path
}

// kind is what is particular about q: a report names it if a check fails in several ways.
func (q request) kind() string {
	switch op := q.op(); {
	case q.what != "":
		return q.what
	case !q.hasKey():
		return q.credential.what
	case op == opList || op == opGet && !q.valid():
		return "GET " + q.path
	}
	return ""
}

// accepts reports whether the response to q may have a content coding. Without
// Accept-Encoding it may have any (RFC 9110, section 12.5.3).
func (q request) accepts(coding string) bool {
	accepted := q.header["Accept-Encoding"]
	return accepted == "" || strings.Contains(accepted, coding)
}

func (q request) http(ctx context.Context, url, key string) (*http.Request, error) {
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
	}
	hr, err := http.NewRequestWithContext(ctx, q.method, url, body)
	if err != nil {
		return nil, err
	}
	hr.Header["User-Agent"] = nil // or net/http adds its own
	for name, value := range q.header {
		hr.Header[name] = []string{value}
	}
	if hr.Header.Get("Transfer-Encoding") != "" {
		hr.ContentLength = -1
	}
	hr.Close = q.header["Connection"] == "close" // then no request may follow (RFC 9112, section 9.6)
	if q.credential.value != nil {
		hr.Header["Authorization"] = []string{q.credential.value(key)}
	}
	return hr, nil
}
