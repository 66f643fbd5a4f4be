// Package history records what concurrent clients of a petstore send and receive.
// Tests check that such a history is linearizable: each request takes effect at one
// moment between the request and its response. A request without a response takes
// effect at one later moment, or never.
//
// [Init] and [Step] are the model for a checker. The tests choose the checker.
package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Request is a creation, a get or a list. Each created pet has the status sold and a
// name of its own, which is also the Idempotency-Key of the creation. So a repetition
// is an equal request.
type Request struct {
	Create string // name of the pet; "": a get or a list
	Get    int64  // ID of the pet; 0: a list
	After  int64  // list the pets after that ID
	Limit  int    // of the list
	Sold   bool   // list only pets with the status sold, which all pets have
}

// Response is the response to a request.
type Response struct {
	Unknown bool     // it is unknown whether the request was carried out
	None    bool     // the server said that it did nothing
	ID      int64    // of the pet that was created or returned
	Names   []string // of the pets that were returned
	More    bool     // the list has further pages
}

// Operation is a request with its response. Call and Return are the times since the
// history began.
type Operation struct {
	Request      Request
	Response     Response
	Call, Return time.Duration
}

// History is the operations of clients on one store. It is safe for concurrent
// use.
type History struct {
	start time.Time

	mu      sync.Mutex
	ops     []Operation
	names   []string // of all attempted creations
	highest int64    // the highest ID in a response
}

// New returns a history that begins now.
func New() *History { return &History{start: time.Now()} }

// Choose returns a random request about the newest pets. If it is a creation of a
// new pet, the pet has that name.
func (h *History) Choose(r *rand.Rand, name string) Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.IntN(6) {
	case 0:
		h.names = append(h.names, name)
		return Request{Create: name}
	case 1: // repeat a creation of any client, which may be under way
		if len(h.names) > 0 {
			return Request{Create: h.names[len(h.names)-1-r.IntN(min(len(h.names), 6))]}
		}
	case 2, 3:
		return Request{Get: max(1, h.highest+2-r.Int64N(6))}
	}
	return Request{After: max(0, h.highest-r.Int64N(6)), Limit: 1 + r.IntN(8), Sold: r.IntN(2) == 0}
}

// Do sends a request and records it with its response. A creation without a
// response may take effect at any later time, so it is recorded as if it never
// returned. A read without a response is not recorded, nor is a request for which
// nothing was done.
func (h *History) Do(req Request, send func(Request) Response) {
	op := Operation{Request: req, Call: time.Since(h.start)}
	op.Response = send(req)
	op.Return = time.Since(h.start)
	if op.Response.None || op.Response.Unknown && req.Create == "" {
		return
	}
	if op.Response.Unknown {
		op.Return = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.highest = max(h.highest, op.Response.ID)
	h.ops = append(h.ops, op)
}

// Operations returns the operations to check, how many were recorded, and how many
// of these have no response. stored are the pets that the store has in the end.
// Operations leaves out each creation without a response whose pet is not in stored:
// it could take effect after all operations, and the check would take much longer if
// it had to try the other moments too.
func (h *History) Operations(stored []petstore.Pet) (ops []Operation, all, unknown int) {
	for _, op := range h.ops {
		if op.Response.Unknown {
			unknown++
		}
		same := func(p petstore.Pet) bool { return p.Name == op.Request.Create }
		if !op.Response.Unknown || slices.ContainsFunc(stored, same) {
			ops = append(ops, op)
		}
	}
	return ops, len(h.ops), unknown
}
