// Package history records what concurrent clients of a petstore send and receive, and
// checks that it is linearizable: each request takes effect at one moment between the
// request and its response. A creation without a response takes effect at one later
// moment, or never.
package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Request is a creation, a get or a list. Each created pet has the status sold and a
// name of its own, which is also the Idempotency-Key of the creation, unless Once is set.
// So a repetition is an equal request.
type Request struct {
	Create string // name of the pet; "": a get or a list
	Once   bool   // create it without an Idempotency-Key; such a creation is never repeated
	Get    int    // ID of the pet; 0: a list
	After  int    // list the pets after that ID
	Limit  int    // of the list
	Sold   bool   // list only pets with the status sold, which all pets have
}

// operation is a request with its response. The times are since the history began.
type operation struct {
	Request
	call, end time.Duration

	status int            // of the response; lost: there is none
	pets   []petstore.Pet // in the response
	more   bool           // the list has further pages
}

// lost is the status of an operation without a response. The server may have carried
// it out.
const lost = 599

// malformed is the status of an operation whose response is not JSON.
const malformed = 598

// History is the operations of clients on one store. It is safe for concurrent use.
type History struct {
	start time.Time

	mu      sync.Mutex
	ops     []operation
	names   []string        // of all attempted creations
	refused map[string]bool // names of creations of which the server says that nothing was stored
	highest int             // the highest ID in a response
}

// New returns a history that begins now.
func New() *History { return &History{start: time.Now(), refused: make(map[string]bool)} }

// Choose returns a random request about the newest pets. If it is a creation of a
// new pet, the pet has that name.
func (h *History) Choose(r *rand.Rand, name string) Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.IntN(6) {
	case 0:
		if r.IntN(2) == 0 {
			return Request{Create: name, Once: true}
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
		if op.Create == "" {
			n++
		}
	}
	return n
}

// Do sends a request to the server with that URL and API key, and records it with the
// response. It reports whether a creation was acknowledged. An incomplete response, a
// 503 or a 507 is none. A request that certainly does nothing is not recorded: a read
// without a response, or a creation that got 507 or a 503 with "nothing was stored".
func (h *History) Do(ctx context.Context, client *http.Client, url, key string, req Request) (created bool) {
	op := operation{Request: req, call: time.Since(h.start)}
	nothing := op.send(ctx, client, url, key)
	op.end = time.Since(h.start)
	h.mu.Lock()
	defer h.mu.Unlock()
	if nothing && req.Once {
		h.refused[req.Create] = true
	}
	if op.status == lost && (nothing || req.Create == "") {
		return false
	}
	for _, p := range op.pets {
		h.highest = max(h.highest, int(p.ID))
	}
	h.ops = append(h.ops, op)
	return op.status == http.StatusCreated
}

// send sends the request of op and sets the response. It reports whether the server says
// that it has stored nothing.
func (op *operation) send(ctx context.Context, client *http.Client, url, key string) (nothing bool) {
	op.status = lost
	method, path, body := "GET", fmt.Sprint("/pets/", op.Get), ""
	switch {
	case op.Create != "":
		method, path, body = "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, op.Create)
	case op.Get == 0:
		path = fmt.Sprintf("/pets?limit=%d", op.Limit)
		if op.Sold {
			path += "&status=sold"
		}
		if op.After > 0 {
			path += "&cursor=" + string(petstore.CursorAfter(int64(op.After)))
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if op.Create != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if op.Create != "" && !op.Once {
		req.Header.Set("Idempotency-Key", op.Create)
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return false
	case resp.StatusCode == http.StatusInsufficientStorage:
		return true
	case resp.StatusCode == http.StatusServiceUnavailable:
		return bytes.Contains(text, []byte("nothing was stored"))
	}
	var v any = &op.pets
	if resp.StatusCode >= 400 {
		v = new(any)
	} else if op.Create != "" || op.Get != 0 {
		op.pets = make([]petstore.Pet, 1)
		v = &op.pets[0]
	}
	op.status, op.more = resp.StatusCode, resp.Header.Get("Link") != ""
	if json.Unmarshal(text, v) != nil {
		op.status = malformed
	}
	return false
}

// Check returns an error unless the history is linearizable. stored are all pets that
// the store has in the end, in the order of their IDs.
//
// The store has only changed from n pets to n+1. So Check looks for a moment of each
// creation that is not before the one of the pet before it, and such that at some moment
// of each operation there were the pets in its response.
func (h *History) Check(stored []petstore.Pet) error {
	ids := map[string]int{}
	for i, p := range stored {
		switch {
		case p.ID != int64(i)+1 || ids[p.Name] != 0:
			return fmt.Errorf("pet %d is %+v; pet %d has that name", i+1, p, ids[p.Name])
		case h.refused[p.Name]:
			return fmt.Errorf("%+v is stored, and the response was that nothing was stored", p)
		case p.CategoryID != 1 || p.Status != petstore.StatusSold:
			return fmt.Errorf("%+v was not sent", p)
		}
		ids[p.Name] = i + 1
	}
	n := len(stored) + 2
	called := slices.Repeat([]time.Duration{math.MaxInt64}, n)    // by ID: the first call that creates the pet
	there := slices.Repeat([]time.Duration{math.MaxInt64 - 1}, n) // when the pet was there at the latest
	missing := make([]time.Duration, n)                           // when it was still missing
	for _, op := range h.ops {
		id := ids[op.Create]
		called[id] = min(called[id], op.call)
		if op.status == lost {
			continue
		}
		least, most := op.counts(stored, id)
		if least > most {
			return fmt.Errorf("status %d, %+v in response to %+v", op.status, op.pets, op.Request)
		}
		there[least] = min(there[least], op.end)
		missing[most+1] = max(missing[most+1], op.call)
	}
	moment := time.Duration(0)
	for id := 1; id <= len(stored); id++ {
		if moment = max(moment, called[id], missing[id]); moment > there[id] {
			return fmt.Errorf("the pet %d was created after %v, but it was there at %v", id, moment, there[id])
		}
	}
	return nil
}

// counts returns how many of the stored pets there were, at least and at most, at the
// moment of an operation with a response. If no number explains the response, least is
// higher than most. id is that of the pet that the operation creates.
func (op operation) counts(stored []petstore.Pet, id int) (least, most int) {
	all := len(stored)
	from := op.After // the first of the pets in the response is stored[from]
	switch {
	case op.Create != "" && op.status == http.StatusCreated:
		from, least, most = id-1, id, all
	case op.Get != 0 && op.status == http.StatusNotFound:
		return 0, min(op.Get-1, all)
	case op.Get != 0 && op.status == http.StatusOK:
		from, least, most = op.Get-1, op.Get, all
	case op.Create != "" || op.status != http.StatusOK:
		return 1, 0
	case op.more && len(op.pets) == op.Limit:
		least, most = op.After+op.Limit+1, all
	case op.more || len(op.pets) > op.Limit:
		return 1, 0
	case len(op.pets) == 0:
		return 0, min(op.After, all)
	default:
		least, most = op.After+len(op.pets), op.After+len(op.pets)
	}
	if from < 0 || from+len(op.pets) > all || !slices.Equal(op.pets, stored[from:from+len(op.pets)]) {
		return 1, 0
	}
	return least, most
}
