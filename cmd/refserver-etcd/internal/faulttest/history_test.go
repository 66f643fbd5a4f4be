//go:build linux

package faulttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// call is an operation of a history: a create, a get or a list.
type call struct {
	create string // name of the pet, which is also the Idempotency-Key
	get    int64  // ID of the pet
	after  int64  // list the pets after that ID
	limit  int    // of the list
	status string // of the list
}

// result is the result of an operation.
type result struct {
	known bool // there was a response
	none  bool // the response said that nothing was done
	id    int64
	names []string // of the pets that were read
	more  bool     // the list has further pages
}

// history records what a few clients did and saw. Only they use its servers,
// which have a store of their own in the cluster.
type history struct {
	servers []*server
	ended   atomic.Bool
	wg      sync.WaitGroup
	start   time.Time

	mu      sync.Mutex
	ops     []porcupine.Operation
	names   []string // of all attempted creations
	highest int64    // ID in a response
}

// startHistory starts four clients. Each of them pauses between two operations,
// for at most the given time.
func startHistory(c *cluster, pause time.Duration) *history {
	h := &history{start: time.Now()}
	for range 3 {
		h.servers = append(h.servers, c.serve("-etcd-prefix=history/"))
	}
	for i := range 4 {
		h.wg.Go(func() { h.work(i, pause) })
	}
	return h
}

func (h *history) work(client int, pause time.Duration) {
	r := rand.New(rand.NewPCG(uint64(client), 1))
	for n := 0; !h.ended.Load(); n++ {
		time.Sleep(time.Duration(r.Int64N(int64(pause))))
		h.do(client, h.choose(r, fmt.Sprintf("%d-%d", client, n)), h.servers[r.IntN(len(h.servers))])
	}
}

// choose returns a random operation on the newest pets.
func (h *history) choose(r *rand.Rand, name string) call {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.IntN(6) {
	case 0:
		h.names = append(h.names, name)
		return call{create: name}
	case 1: // repeat a creation of any client, which may be under way
		if len(h.names) > 0 {
			return call{create: h.names[len(h.names)-1-r.IntN(min(len(h.names), 6))]}
		}
	case 2, 3:
		return call{get: max(1, h.highest+2-r.Int64N(6))}
	}
	return call{after: max(0, h.highest-r.Int64N(6)), limit: 1 + r.IntN(8), status: []string{"", "sold"}[r.IntN(2)]}
}

// do carries out an operation and records it. A creation without a response may
// take effect at any later time, so it is recorded as if it never returned. A
// read without a response is not recorded, nor is a creation for which there was
// no room.
func (h *history) do(client int, c call, s *server) {
	began := time.Since(h.start)
	out := c.perform(s)
	ended := time.Since(h.start)
	if !out.known {
		if c.create == "" || out.none {
			return
		}
		ended = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.highest = max(h.highest, out.id)
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: c, Output: out, Call: int64(began), Return: int64(ended)})
}

func (c call) perform(s *server) (out result) {
	var pets []petstore.Pet
	var err error
	switch {
	case c.create != "":
		pet, r, err := s.create(c.create, c.create)
		return result{known: err == nil, none: r.Status == http.StatusInsufficientStorage, id: pet.ID}
	case c.get != 0:
		pets, err = s.get(c.get)
	default:
		pets, out.more, err = s.page(c.status, c.after, c.limit)
	}
	out.known = err == nil
	for _, p := range pets {
		out.names = append(out.names, p.Name)
	}
	return out
}

// content is the content of a store: the pet with the ID n has the n-th name.
// Equal contents are the same pointer, so that they are fast to compare.
type content struct {
	names []string
	next  map[string]*content // by the name that is created next
}

// created returns the content after a creation, and the pet's ID.
func (s *content) created(name string) (*content, int64) {
	if i := slices.Index(s.names, name); i >= 0 {
		return s, int64(i) + 1
	}
	if s.next[name] == nil {
		s.next[name] = &content{append(slices.Clip(s.names), name), map[string]*content{}}
	}
	return s.next[name], int64(len(s.names)) + 1
}

var model = porcupine.Model{
	Init: func() any { return &content{next: map[string]*content{}} },
	Step: func(state, input, output any) (bool, any) {
		s, c, out := state.(*content), input.(call), output.(result)
		count := int64(len(s.names))
		switch {
		case c.create != "":
			s, id := s.created(c.create)
			return !out.known || out.id == id, s
		case c.get > count:
			return len(out.names) == 0, s
		case c.get != 0:
			return slices.Equal(out.names, s.names[c.get-1:c.get]), s
		}
		after := min(c.after, count)
		to := min(after+int64(c.limit), count)
		return slices.Equal(out.names, s.names[after:to]) && out.more == (to < count), s
	},
}

// end stops the clients. The history must be linearizable.
func (h *history) end(t *testing.T) {
	t.Helper()
	h.ended.Store(true)
	h.wg.Wait()
	// A creation that has not taken effect could do so after all operations. The
	// check takes much longer if it must try the other times too.
	stored := map[string]bool{}
	for _, p := range h.servers[0].list(t, "", 0) {
		stored[p.Name] = true
	}
	open, all := 0, len(h.ops)
	h.ops = slices.DeleteFunc(h.ops, func(op porcupine.Operation) bool {
		if op.Output.(result).known {
			return false
		}
		open++
		return !stored[op.Input.(call).create]
	})
	start := time.Now()
	outcome := porcupine.CheckOperationsTimeout(model, h.ops, process.Patience)
	t.Logf("history of %d operations, %d of them with an unknown outcome: %s, in %v", all, open, outcome, time.Since(start).Round(time.Millisecond))
	if outcome != porcupine.Ok {
		t.Errorf("the history is %s", outcome)
	}
}

// The model accepts what a store may do, and finds what it must not do.
func TestModel(t *testing.T) {
	const never = math.MaxInt64
	op := func(began, ended int64, in call, out result) porcupine.Operation {
		out.known = ended != never
		return porcupine.Operation{Input: in, Output: out, Call: began, Return: ended}
	}
	a, b, get, list := call{create: "a"}, call{create: "b"}, call{get: 1}, call{limit: 2}
	none, one, two, pet := result{}, result{id: 1}, result{id: 2}, result{names: []string{"a"}}
	for _, test := range []struct {
		name string
		ops  []porcupine.Operation
		want porcupine.CheckResult
	}{
		{"a read after a creation", []porcupine.Operation{op(1, 2, a, one), op(3, 4, get, pet)}, porcupine.Ok},
		{"a stale read", []porcupine.Operation{op(1, 2, a, one), op(3, 4, get, none)}, porcupine.Illegal},
		{"a stale list", []porcupine.Operation{op(1, 2, a, one), op(3, 4, list, none)}, porcupine.Illegal},
		{"a list during a creation", []porcupine.Operation{op(1, 4, a, one), op(2, 3, list, none)}, porcupine.Ok},
		{"a list that goes back", []porcupine.Operation{op(1, 9, a, one), op(2, 3, list, pet), op(4, 5, list, none)}, porcupine.Illegal},
		{"a creation that takes effect late", []porcupine.Operation{op(1, never, a, none), op(2, 3, list, none), op(4, 5, list, pet)}, porcupine.Ok},
		{"a repeated creation", []porcupine.Operation{op(1, 2, a, one), op(3, 4, b, two), op(5, 6, a, one)}, porcupine.Ok},
		{"a pet created twice", []porcupine.Operation{op(1, 2, a, one), op(3, 4, a, two)}, porcupine.Illegal},
		{"a skipped ID", []porcupine.Operation{op(1, 2, a, two)}, porcupine.Illegal},
		{"a further page that does not exist", []porcupine.Operation{op(1, 2, a, one), op(3, 4, list, result{names: pet.names, more: true})}, porcupine.Illegal},
	} {
		if got := porcupine.CheckOperationsTimeout(model, test.ops, time.Minute); got != test.want {
			t.Errorf("%s is %s, want %s", test.name, got, test.want)
		}
	}
}
