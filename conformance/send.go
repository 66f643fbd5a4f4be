package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// sender sends the requests of a run. It does not judge: it confirms what the target
// has acknowledged, and looks again at a list that is late.
type sender struct {
	facts
	ctx      context.Context
	stop     context.CancelCauseFunc // ends the run
	client   *probe.Client
	opts     Options
	messages bool // there is POST /messages

	beforePhase  func() // for tests
	names        atomic.Int64
	began        time.Time // the first pet and the first message had been sent
	category     int64     // one that the target accepts
	history      *history  // see seen
	waitedInVain bool      // for a list to show a pet

	mu    sync.Mutex
	hangs int // how many requests got no response in time
}

// maxHangs is how many requests of a run are sent again because they got no response in
// time: each takes the time limit again.
const maxHangs = 4

// name returns a name that no other pet or message has, of this run or of any other.
func (s *sender) name() string {
	n := s.names.Add(1)
	return s.mark + string([]byte{'a' + byte(n/26/26%26), 'a' + byte(n/26%26), 'a' + byte(n%26)})
}

// pet returns a valid pet with a name of its own.
func (s *sender) pet(status string) newPet { return newPet{s.name(), s.category, status} }

// send sends r, again if the target may not be at fault that there is no response.
func (s *sender) send(r probe.Request) *probe.Exchange {
	if s.ctx.Err() != nil {
		return &probe.Exchange{Request: r, Err: s.ctx.Err()}
	}
	began := time.Now()
	x := s.client.Do(s.ctx, r)
	if x.Unavailable() && time.Since(began) > time.Minute {
		s.stop(fmt.Errorf("the target has not served a request for a minute: it responds %s", x.StatusLine()))
	}
	for x.Err != nil && s.ctx.Err() == nil {
		if !s.alive(r) {
			s.stop(fmt.Errorf("the target does not respond any more: %w", x.Err))
			return x
		}
		// The client has sent a request three times if it was dropped.
		if !probe.IsTimeout(x.Err) || x.Attempts > 1 {
			x.Alive = true
			return x
		}
		if s.hang() > maxHangs {
			x.Alive = true
			s.stop(errors.New("too many requests get no response in time"))
			return x
		}
		x = s.client.SendAgain(s.ctx, x)
	}
	return x
}

// hang counts a request that got no response in time.
func (s *sender) hang() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs++
	return s.hangs
}

// alive reports whether the target responds soon to a simple request, for pets or for
// messages: another server may have those. Each has a connection of its own, since
// each open connection may keep a thread of the target.
func (s *sender) alive(failed probe.Request) bool {
	simple := []probe.Request{probe.Get("/pets?limit=1"), probe.Get(s.missingPath()), probe.Get("/pets").With(probe.Credential{})}
	if failed.Messages {
		simple = []probe.Request{probe.PostMessage(`{}`), probe.PostMessage(messageBody(s.name()))}
	}
	for _, r := range simple {
		r.Fresh = true
		if x := s.client.Send(s.ctx, r); x.Status != 0 && x.Received.Sub(x.Sent) < s.opts.Timeout/2 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
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

// all sends requests, several at a time, and confirms those that add a pet.
func (s *sender) all(requests []probe.Request) {
	s.each(len(requests), func(i int) { s.confirm(s.send(requests[i])) })
}

func (s *sender) get(path string) *probe.Exchange { return s.send(probe.Get(path)) }

// create sends n, and confirms it.
func (s *sender) create(n newPet) *probe.Exchange {
	return s.confirm(s.send(probe.Post("/pets", n.json())))
}

// submit sends a message.
func (s *sender) submit(text string) *probe.Exchange {
	return s.send(probe.PostMessage(messageBody(text)))
}

// messageBody returns the body that submits text.
func messageBody(text string) string { return fmt.Sprintf(`{"message":%s}`, quoteJSON(text)) }

// confirm gets the pet that x added, if it added one, and returns x.
func (s *sender) confirm(x *probe.Exchange) *probe.Exchange {
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

// seen returns what the run has seen so far. The result is valid until the next call.
func (s *sender) seen() *history {
	exchanges := s.client.Exchanges()
	if s.history == nil {
		s.history = newHistory(s.facts, nil)
	}
	if len(exchanges) != len(s.history.parsed) {
		s.history.learn(exchanges)
	}
	return s.history
}

// lists requests the longest lists. While one lacks a pet of the run, it requests that
// one again, for as long as a list may be late, but only once in a run in vain.
func (s *sender) lists() {
	all := append(statuses(), "")
	s.each(len(all), func(i int) { s.get(allPets(all[i]).path()) })
	for _, status := range all {
		q := allPets(status)
		for began := time.Now(); s.ctx.Err() == nil; s.get(q.path()) {
			if x := s.seen().find(q); x == nil || !x.isShort() || len(x.missing()) == 0 {
				break
			}
			if s.waitedInVain {
				s.get(q.path()) // judges compare three
				s.get(q.path())
				break
			}
			if time.Since(began) > listPatience+200*time.Millisecond {
				s.waitedInVain = true
				break
			}
			wait(s.ctx, 100*time.Millisecond)
		}
	}
}

// find returns the last list with a query. Nil: there is none.
func (h *history) find(q listQuery) *exchange {
	if all := h.lists[q]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// wait waits for d, or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// reuse finds out whether the target can serve several requests on a connection. If
// not, the exchanges that show it say so, and the run uses each connection for one
// request, so that nothing else fails for that reason.
func (s *sender) reuse() {
	for _, refused := range s.refusedEarly() {
		before := s.spoilsConnection(refused)
		if before == nil {
			continue
		}
		s.client.NoReuse()
		for _, x := range s.client.Exchanges() {
			if x.Reused {
				x.Before = before
			}
		}
		return
	}
}

// spoilsConnection returns an exchange of a request, if three times a list on the same
// connection fails after it, and a list on a connection of its own does not.
func (s *sender) spoilsConnection(request probe.Request) *probe.Exchange {
	list := probe.Get("/pets?limit=1")
	var x *probe.Exchange
	for range 3 {
		s.client.Close()
		x = s.client.Send(s.ctx, request)
		if after := s.client.Send(s.ctx, list); !after.Reused || after.Status == http.StatusOK || after.Unavailable() {
			return nil
		}
	}
	s.client.Close()
	if alone := s.client.Send(s.ctx, list); alone.Status != http.StatusOK {
		return nil
	}
	return x
}

// refusedEarly returns requests that a target may refuse before it has read their
// bodies.
func (s *sender) refusedEarly() []probe.Request {
	requests := []probe.Request{probe.Get("/pets").With(probe.Credential{})}
	if s.opts.ReadOnly {
		return requests
	}
	pet, message := probe.Post("/pets", `{"name":`), probe.PostMessage(`{"message":`)
	requests = append(requests, pet.With(probe.Credential{}), pet)
	if !s.messages {
		return requests
	}
	noType := message
	noType.ContentType = ""
	return append(requests, message.With(probe.Credential{}), noType)
}
