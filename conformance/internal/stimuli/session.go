package stimuli

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/animalstore/conformance/internal/probe"
)

// session is a run against one target. It keeps what later requests are made of: the pets that
// are there, and a category that the target accepts.
type session struct {
	Config
	ctx    context.Context
	stop   context.CancelCauseFunc // ends the run
	client *probe.Client
	mark   string

	names    atomic.Int64
	category int64       // that the target accepts
	old      []probe.Pet // some of the pets that were there before

	mu        sync.Mutex
	exchanges []*probe.Exchange // every one so far
	received  int               // the length of all their bodies
	added     []probe.Pet       // that the target added for valid requests
	unserved  []*probe.Exchange // requests that were not served, even when they were sent again

	messagesFound bool // there is POST /messages
	messages      bool // and the target serves it
}

const (
	// How many requests need not be served. A run sends about 750 for pets: that is one in twenty.
	// Of the messages it may be more, since a target may be out of service for a moment.
	maxUnservedPets     = 35
	maxUnservedMessages = 15

	maxTimeouts = 4         // how many requests may get no response in time: each one takes long
	maxReceived = 512 << 20 // how many bytes of bodies the run keeps in memory
)

// newSession returns a session that has sent nothing yet.
func newSession(ctx context.Context, config Config) *session {
	s := &session{Config: config, mark: newMark(), category: anyCategory()}
	if s.Category != nil {
		s.category = *s.Category
	}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	s.client = probe.NewClient(probe.Config{
		URL: s.URL, MessagesURL: cmp.Or(s.MessagesURL, s.URL), Key: s.Key,
		Timeout: s.Timeout, Transport: s.Transport, Record: s.record,
	})
	return s
}

// markStart is how the mark of every run starts.
const markStart = "Conf"

// newMark returns a mark that no other run has. It has only letters, as some targets
// want names to.
func newMark() string {
	mark := markStart
	for range 6 {
		mark += string(rune('a' + rand.IntN(26)))
	}
	return mark
}

// anyCategory returns a category that a target with a list of them can hardly know.
func anyCategory() int64 { return 100_000_000 + rand.Int64N(900_000_000) }

// name returns a name that no other pet or message has, of this run or of any other.
func (s *session) name() string {
	n := s.names.Add(1)
	return s.mark + string([]byte{'a' + byte(n/26/26%26), 'a' + byte(n/26%26), 'a' + byte(n%26)})
}

// pet returns a valid pet with a name of its own.
func (s *session) pet(status string) probe.NewPet {
	return probe.NewPet{Name: s.name(), Category: s.category, Status: status}
}

// send sends r, again if it is not served, and returns the last exchange. The exchange is empty
// if r must not be sent: if the run has ended, if it only reads, or if r is a message and there is
// no POST /messages.
func (s *session) send(r probe.Request) *probe.Exchange {
	s.mu.Lock()
	noMessages := !s.messages
	s.mu.Unlock()
	if s.ctx.Err() != nil || s.ReadOnly && r.Method != http.MethodGet || noMessages && r.ForMessages() {
		return &probe.Exchange{Request: r}
	}
	x := s.client.Do(s.ctx, r)
	if !x.Served() && s.ctx.Err() == nil {
		s.countUnserved(x)
	}
	return x
}

// countUnserved ends the run if too many requests were not served. If those were messages, it
// only ends the messages.
func (s *session) countUnserved(x *probe.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unserved = append(s.unserved, x)
	pets, messages, timeouts := 0, 0, 0
	for _, y := range s.unserved {
		switch {
		case y.Request.ForMessages():
			messages++
		case probe.IsTimeout(y.Err):
			timeouts++
			pets++
		default:
			pets++
		}
	}
	switch {
	case pets > maxUnservedPets:
		s.stop(fmt.Errorf("%d requests were not served, even when they were sent again; the last: %s", pets, x.Failure()))
	case timeouts > maxTimeouts:
		s.stop(fmt.Errorf("%d requests got no response in %v, even when they were sent again", timeouts, s.Timeout))
	case messages > maxUnservedMessages:
		s.messages = false
	}
}

// record records an exchange. It ends the run if the target has sent too much.
func (s *session) record(x *probe.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = append(s.exchanges, x)
	s.received += len(x.Body)
	if s.received > maxReceived {
		s.stop(fmt.Errorf("the responses have more than %d MiB together: try a target with fewer or smaller pets",
			maxReceived>>20))
	}
	if id, ok := x.AddedID(); ok && x.Request.Intent.Pet != nil {
		s.added = append(s.added, probe.Pet{ID: id, NewPet: *x.Request.Intent.Pet})
	}
}

// result returns what the run has sent and received.
func (s *session) result() Traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := Traffic{Mark: s.mark, Exchanges: slices.Clone(s.exchanges), Ended: context.Cause(s.ctx)}
	isMessage := func(x *probe.Exchange) bool { return x.Request.ForMessages() }
	if !s.messagesFound {
		t.Exchanges = slices.DeleteFunc(t.Exchanges, isMessage)
		return t
	}
	t.MessagesURL = s.client.MessagesURL
	if !s.messages {
		t.MessagesUnserved = s.unserved[slices.IndexFunc(s.unserved, isMessage)]
	}
	return t
}

// pets returns the pets that the run has added so far.
func (s *session) pets() []probe.Pet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.added)
}

// anID returns the ID of a pet that the target has, or else 1.
func (s *session) anID() int64 {
	if pets := append(s.pets(), s.old...); len(pets) > 0 {
		return pets[0].ID
	}
	return 1
}

// missingPath returns the path of a pet that does not exist. No store has enough
// pets for an ID of 62 bits that depends on the run to be in use.
func (s *session) missingPath() string {
	id := int64(1)
	for _, c := range []byte(s.mark) {
		id = id<<6 ^ int64(c)
	}
	return probe.PetPath(1<<62 | id&(1<<62-1))
}

// each calls f for each i below n, several at a time.
func (s *session) each(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, s.Parallel)
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
func (s *session) all(requests []probe.Request) {
	s.each(len(requests), func(i int) { s.getAdded(s.send(requests[i])) })
}

func (s *session) get(path string) *probe.Exchange { return s.send(probe.Get(path)) }

// create sends n, of which the intent says what is unusual, and gets the pet that it added.
func (s *session) create(n probe.NewPet, intent probe.Intent) *probe.Exchange {
	return s.getAdded(s.send(probe.AddPet(n, intent)))
}

// getAdded gets the pet that x added, if it added one, and returns x.
func (s *session) getAdded(x *probe.Exchange) *probe.Exchange {
	if id, ok := x.AddedID(); ok {
		s.get(probe.PetPath(id))
	}
	return x
}

// longestLists requests the longest list with each status, and that with any.
func (s *session) longestLists() {
	statuses := append(probe.Statuses(), "")
	s.each(len(statuses), func(i int) { s.get(probe.LongestList(statuses[i]).Path()) })
}
