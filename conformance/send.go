package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// sender sends the requests of a run. It does not judge: it gets each pet that the target
// has added, and looks again at a list that is late.
type sender struct {
	facts
	ctx      context.Context
	stop     context.CancelCauseFunc // ends the run
	client   *probe.Client
	opts     Options
	selected map[string]bool // the IDs of the checks that are judged
	messages bool            // there is POST /messages

	names        atomic.Int64
	began        time.Time // the first pet and the first message had been sent
	category     int64     // one that the target accepts
	anyAccepted  bool      // the target has accepted an arbitrary one
	waitedInVain bool      // for a list to show a pet

	unserved atomic.Int64 // how many requests in a row were not served

	mu        sync.Mutex
	exchanges []*exchange // every one so far, in the order in which they ended
	received  int         // the length of all their bodies
}

const (
	maxUnserved = 8         // how many requests in a row need not be served
	maxReceived = 512 << 20 // how many bytes of bodies the run keeps in memory
)

// name returns a name that no other pet or message has, of this run or of any other.
func (s *sender) name() string {
	n := s.names.Add(1)
	return s.mark + string([]byte{'a' + byte(n/26/26%26), 'a' + byte(n/26%26), 'a' + byte(n%26)})
}

// pet returns a valid pet with a name of its own.
func (s *sender) pet(status string) newPet { return newPet{s.name(), s.category, status} }

// send sends r, and returns the last exchange. It ends the run if the target does not
// respond any more. A target that says when it can serve requests again has responded.
func (s *sender) send(r probe.Request) *probe.Exchange {
	if s.ctx.Err() != nil {
		return &probe.Exchange{Request: r, Err: s.ctx.Err()}
	}
	x := s.client.Do(s.ctx, r)
	switch {
	case x.Served() || x.Status == http.StatusInsufficientStorage:
		s.unserved.Store(0)
	case x.Header.Get("Retry-After") == "" && s.unserved.Add(1) == maxUnserved && s.ctx.Err() == nil:
		if simple := s.client.Do(s.ctx, probe.Get("/pets?limit=1")); simple.Served() { // only those requests fail
			s.unserved.Store(0)
		} else {
			s.stop(fmt.Errorf("%d requests in a row were not served; the last: %s", maxUnserved, noResponse(simple)))
		}
	}
	return x
}

// noResponse says why x is not the response to a request.
func noResponse(x *probe.Exchange) string {
	if x.Err != nil {
		return x.Err.Error()
	}
	return x.StatusLine()
}

// ended records an exchange. It ends the run if the target has sent too much.
func (s *sender) ended(p *probe.Exchange) {
	x := s.read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = append(s.exchanges, x)
	if s.received += len(x.Body); s.received > maxReceived {
		s.stop(fmt.Errorf("the responses have more than %d MiB together: try a target with fewer or smaller pets", maxReceived>>20))
	}
}

// seen returns what the run has seen so far.
func (s *sender) seen() *history {
	s.mu.Lock()
	exchanges := slices.Clone(s.exchanges)
	s.mu.Unlock()
	return newHistory(s.facts, exchanges)
}

// forgetMessages removes every request for a message from what the run has seen.
func (s *sender) forgetMessages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = slices.DeleteFunc(s.exchanges, func(x *exchange) bool { return x.op == opSubmit })
}

// each calls f for each i below n, several at a time.
func (s *sender) each(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, s.opts.Parallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}

// all sends requests, several at a time, and gets the pets that they add.
func (s *sender) all(requests []probe.Request) {
	s.each(len(requests), func(i int) { s.getAdded(s.send(requests[i])) })
}

func (s *sender) get(path string) *probe.Exchange { return s.send(probe.Get(path)) }

// create sends n, of which m says what is unusual, and gets the pet that it added.
func (s *sender) create(n newPet, m meaning) *probe.Exchange {
	return s.getAdded(s.send(addPet(n, m)))
}

// getAdded gets the pet that x added, if it added one, and returns x.
func (s *sender) getAdded(x *probe.Exchange) *probe.Exchange {
	if id, ok := addedID(x); ok {
		s.get(petPath(id))
	}
	return x
}

// addedID returns the id of the pet that x added.
func addedID(x *probe.Exchange) (int64, bool) {
	if x.Request.Operation() != opCreate || !x.Succeeded() {
		return 0, false
	}
	p, err := readPet(x.Object())
	return p.ID, err.id == nil
}

// missingPath returns the path of a pet that does not exist. No store has enough
// pets for an id of 62 bits that depends on the run to be in use.
func (s *sender) missingPath() string {
	id := int64(1)
	for _, c := range []byte(s.mark) {
		id = id<<6 ^ int64(c)
	}
	return petPath(1<<62 | id&(1<<62-1))
}

// lists requests the longest lists. While one lacks a pet of the run, it requests that
// one again, for as long as a list may be late, but only once in a run in vain.
func (s *sender) lists() {
	all := append(statuses(), "")
	s.each(len(all), func(i int) { s.get(allPets(all[i]).path()) })
	for _, status := range all {
		q := allPets(status)
		for began := time.Now(); s.ctx.Err() == nil; s.get(q.path()) {
			lists := s.seen().lists[q]
			if len(lists) == 0 || !lists[len(lists)-1].isShort() || len(lists[len(lists)-1].missing()) == 0 {
				break
			}
			if s.waitedInVain {
				s.get(q.path()) // isConfirmed compares three lists
				s.get(q.path())
				break
			}
			if time.Since(began) > listPatience+200*time.Millisecond {
				s.waitedInVain = true
				break
			}
			probe.Sleep(s.ctx, 100*time.Millisecond)
		}
	}
}
