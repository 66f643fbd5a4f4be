package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/conformance/internal/wire"
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
	wire.Request        // try sets its URL
	path         string // relative to the base URL, or to that of the messages, escaped, with its query

	what  string // what is unusual or wrong about it: it completes "the request has …"
	allow allowed
	name  string // of the pet in the body; "": none, or an empty one
}

// fields are header fields that are set, or left out if the value is empty.
type fields map[string]string

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
	return request{Request: wire.Request{Method: http.MethodGet, Credential: validKey}, path: path}
}

// post returns a request with a JSON body ("": none). Like get, it has the valid key.
func post(op, body string) request {
	q := get(strings.TrimPrefix(op, "POST ")).set(fields{"Content-Type": "application/json"})
	q.Method = http.MethodPost
	if body != "" {
		q.Body = []byte(body)
	}
	return q
}

func add(n wire.NewPet) request {
	return post(opCreate, toJSON(n)).naming(n.Name)
}

// naming returns q, whose body has a pet with that name.
func (q request) naming(name string) request {
	q.name = name
	return q
}

func submit(text string) request { return post(opSubmit, toJSON(map[string]string{"message": text})) }

// toJSON returns v, whose texts are UTF-8, as JSON.
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// as returns q with what is unusual or wrong about it, and how the target may respond.
func (q request) as(what string, allow allowed) request {
	q.what, q.allow = what, allow
	return q
}

// set returns q with these fields.
func (q request) set(f fields) request {
	header := make(fields)
	maps.Copy(header, q.Header)
	maps.Copy(header, f)
	q.Header = header
	return q
}

func (q request) with(c wire.Credential) request {
	q.Credential = c
	return q
}

func (q request) valid() bool       { return q.allow < refusal }
func (q request) hasKey() bool      { return q.has(validKey) }
func (q request) forMessages() bool { return q.path == "/messages" }

// has reports whether q has that kind of credential.
func (q request) has(c wire.Credential) bool { return q.Credential.What == c.What }

// mayBeLost reports whether the target need not respond to q: it may close the connection of a
// body of more than 64 KiB.
func (q request) mayBeLost() bool { return len(q.Body) > 64<<10 || q.allow == anything }

// op returns the method and path of q as the contract writes them.
func (q request) op() string {
	path, _, _ := strings.Cut(q.path, "?")
	if id, ok := strings.CutPrefix(path, "/pets/"); ok && id != "" && !strings.Contains(id, "/") {
		path = "/pets/{petId}"
	}
	return q.Method + " " + path
}

// line returns the method and path of q, and what is unusual about it.
func (q request) line() string {
	line := q.Method + " " + q.path
	if q.what != "" {
		line += " with " + q.what
	}
	return line
}

// petPath returns the path of the pet with that ID.
func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// kind is what is particular about q: a report names it if a check fails in several ways.
func (q request) kind() string {
	switch op := q.op(); {
	case q.what != "":
		return q.what
	case !q.hasKey():
		return q.Credential.What
	case op == opList || op == opGet && !q.valid():
		return "GET " + q.path
	}
	return ""
}

// exchange is a request and the response to it. If the request was sent several times, it is the last.
type exchange struct {
	*wire.Exchange
	request request
	tries   int // how often the request was sent; 0: it was not, and no check judges it
	lost    int // how many of the tries got no response

	uncertain bool // an earlier try may have been carried out: it did not get 429
}

// refused reports whether the status is a 4xx that is about this request.
func (x *exchange) refused() bool { return x.Status >= 400 && x.Status <= 499 && !x.unavailable() }

// unavailable reports whether the target serves no requests now.
func (x *exchange) unavailable() bool {
	return slices.Contains([]int{429, 502, 503, 504, 507}, x.Status)
}

// follows reports whether x was sent after y was received.
func (x *exchange) follows(y *exchange) bool { return x.Start > y.End }

// during says so if x was sent while y was under way.
func (x *exchange) during(y *exchange) string {
	if y != nil && !x.follows(y) && !y.follows(x) {
		return ": both were created at the same time"
	}
	return ""
}

func (x *exchange) served() bool { return x.Status != 0 && !x.unavailable() }

// judgeable reports whether x was served and its response can be judged. The contract does not say what a
// POST gets that was carried out before.
func (x *exchange) judgeable() bool {
	return x.served() && x.Readable() && !(x.request.Method == http.MethodPost && x.uncertain)
}
