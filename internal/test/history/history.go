// Package history records what concurrent clients of a petstore send and receive, and
// checks that it is linearizable: each request takes effect at one moment between the
// request and its response. A creation without a response takes effect at one later
// moment, or never. Of messages, which no request reads, it checks that the queue has what
// was acknowledged, once.
package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Request is a creation, the submission of a message, a get or a list. Each created pet
// has the status sold and a name of its own, which up to its first space is also the
// Idempotency-Key of the creation, unless NoKey is set. The text of a message is its key.
// So a repetition is an equal request.
type Request struct {
	Create  string // name of the pet; "": another request
	NoKey   bool   // create it without an Idempotency-Key; such a creation is never repeated
	Message string // text of the message; "": another request
	Get     int    // ID of the pet; 0: a list
	After   int    // list the pets after that ID
	Limit   int    // of the list
	Sold    bool   // list only pets with the status sold, which all pets have
}

func (r Request) reads() bool { return r.Create == "" && r.Message == "" }

// operation is a request with its response. The times are since the history began.
type operation struct {
	Request
	call, end time.Duration

	status  int              // of the response; lost: there is none
	pets    []petstore.Pet   // in the response
	more    bool             // the list has further pages
	message petstore.Message // in the response
}

// lost is the status of an operation without a response. The server may have carried
// it out.
const lost = 599

// malformed is the status of an operation whose response is not JSON.
const malformed = 598

// History is the operations of clients on one store. It is safe for concurrent use.
type History struct {
	start time.Time

	mu           sync.Mutex
	ops          []operation
	names        []string         // of all attempted creations with an Idempotency-Key
	acknowledged map[Request]bool // repetitions are equal
	highest      int              // the highest ID in a response
}

// New returns a history that begins now.
func New() *History { return &History{start: time.Now(), acknowledged: map[Request]bool{}} }

// Choose returns a random request about the newest pets. If it is a creation of a
// new pet, the pet has that name.
func (h *History) Choose(r *rand.Rand, name string) Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.IntN(6) {
	case 0:
		if r.IntN(2) == 0 {
			return Request{Create: name, NoKey: true}
		}
		h.names = append(h.names, name)
		return Request{Create: name}
	case 1: // repeat a creation of any client, which may be under way
		if len(h.names) > 0 {
			return Request{Create: h.names[len(h.names)-1-r.IntN(min(len(h.names), 6))]}
		}
	case 2, 3:
		return Request{Get: max(1, h.highest+2-r.IntN(6))}
	}
	return Request{After: max(0, h.highest-r.IntN(6)), Limit: 1 + r.IntN(8), Sold: r.IntN(2) == 0}
}

// Reads returns how many reads with a response were recorded.
func (h *History) Reads() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range h.ops {
		if op.reads() {
			n++
		}
	}
	return n
}

// Acknowledged returns how many pets and messages were acknowledged.
func (h *History) Acknowledged() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.acknowledged)
}

// At returns the history without the responses after a moment, for the check of a store as
// it was then.
func (h *History) At(t time.Time) *History {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := New()
	at.start = h.start
	for _, op := range h.ops {
		if h.start.Add(op.end).After(t) {
			if op.reads() {
				continue
			}
			op.status = lost
		}
		at.add(op)
	}
	return at
}

// Do sends a request to the server with that URL and API key, and records it with the
// response. It returns the status of the response, or an error if the response is missing
// or incomplete. For the history a 503 or a 507 is no response. A request that certainly
// does nothing is not recorded: a read without a response, or another request that got 507
// or a 503 with "nothing was stored".
func (h *History) Do(ctx context.Context, client *http.Client, url, key string, req Request) (status int, err error) {
	op := operation{Request: req, call: time.Since(h.start), status: lost}
	resp, text, err := req.send(ctx, client, url, key)
	op.end = time.Since(h.start)
	nothing := false
	if err == nil {
		switch status = resp.StatusCode; status {
		case http.StatusInsufficientStorage:
			nothing = true
		case http.StatusServiceUnavailable:
			nothing = bytes.Contains(text, []byte("nothing was stored"))
		default:
			op.status, op.more = status, resp.Header.Get("Link") != ""
			op.decode(text)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if op.status == lost && (nothing || req.reads()) {
		return status, err
	}
	for _, p := range op.pets {
		h.highest = max(h.highest, int(p.ID))
	}
	h.add(op)
	return status, err
}

func (h *History) add(op operation) {
	h.ops = append(h.ops, op)
	if op.status == http.StatusCreated || op.status == http.StatusAccepted {
		h.acknowledged[op.Request] = true
	}
}

// send sends the request and returns the response with its whole body.
func (r Request) send(ctx context.Context, client *http.Client, url, key string) (*http.Response, []byte, error) {
	method, path, body := "GET", fmt.Sprint("/pets/", r.Get), ""
	idempotencyKey := r.Message
	switch {
	case r.Create != "":
		method, path, body = "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, r.Create)
		if !r.NoKey {
			idempotencyKey, _, _ = strings.Cut(r.Create, " ")
		}
	case r.Message != "":
		method, path, body = "POST", "/messages", fmt.Sprintf(`{"message":%q}`, r.Message)
	case r.Get == 0:
		path = fmt.Sprintf("/pets?limit=%d", r.Limit)
		if r.Sold {
			path += "&status=sold"
		}
		if r.After > 0 {
			path += "&cursor=" + string(petstore.CursorAfter(int64(r.After)))
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// decode decodes the body of the response.
func (op *operation) decode(text []byte) {
	var v any = &op.pets
	switch {
	case op.status >= 400:
		v = new(any)
	case op.Message != "":
		v = &op.message
	case op.Create != "" || op.Get != 0:
		op.pets = make([]petstore.Pet, 1)
		v = &op.pets[0]
	}
	if json.Unmarshal(text, v) != nil {
		op.status = malformed
	}
}
