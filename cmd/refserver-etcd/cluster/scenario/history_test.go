package scenario

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
	"example.com/animalstore/petstore"
)

// call is an operation of a history: a create, a get or a list.
type call struct {
	create string // the name of the pet, which is also the Idempotency-Key
	get    int64  // the id of the pet
	after  int64  // list the pets after that id; -1: from the start
	limit  int    // of the list
	status string // of the list
}

// result is the result of an operation.
type result struct {
	known bool     // there was a response
	id    int64    // of the created pet
	names []string // of the pets that were read
	more  bool     // the list has further pages
}

// history records what a few clients did and saw. Only they use its servers,
// which have a store of their own in the cluster.
type history struct {
	servers []*local.Server
	key     string
	stop    chan struct{}
	wg      sync.WaitGroup
	start   time.Time

	mu      sync.Mutex
	ops     []porcupine.Operation
	names   []string // of all attempted creations
	highest int64    // the highest id in a response
}

func startHistory(t *testing.T, c *local.Cluster, args ...string) *history {
	t.Helper()
	h := &history{key: c.Key, stop: make(chan struct{}), start: time.Now()}
	for range 3 {
		s, err := c.AddServer(append(args, "-etcd-prefix=history/")...)
		if err != nil {
			t.Fatal(err)
		}
		h.servers = append(h.servers, s)
	}
	for i := range 4 {
		h.wg.Go(func() { h.work(i) })
	}
	return h
}

func (h *history) work(client int) {
	r := rand.New(rand.NewPCG(uint64(client), 1))
	for n := 0; ; n++ {
		select {
		case <-h.stop:
			return
		case <-time.After(time.Duration(10+r.IntN(either(250, 80))) * time.Millisecond): // few enough to be checked
		}
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
	after := h.highest - r.Int64N(6)
	if after <= 0 {
		after = -1
	}
	return call{after: after, limit: 1 + r.IntN(8), status: []string{"", "sold"}[r.IntN(2)]}
}

// do carries out an operation and records it. A creation without a response may
// take effect at any later time, so it is recorded as if it never returned. A
// read without a response is not recorded.
func (h *history) do(client int, c call, s *local.Server) {
	began := time.Since(h.start)
	out := perform(c, s, h.key)
	ended := time.Since(h.start)
	if !out.known {
		if c.create == "" {
			return
		}
		ended = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.highest = max(h.highest, out.id)
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: c, Output: out, Call: int64(began), Return: int64(ended)})
}

func perform(c call, s *local.Server, key string) (out result) {
	if c.create != "" {
		var err error
		out.id, err = create(s.URL(), key, c.create, c.create)
		out.known = err == nil
		return out
	}
	url := fmt.Sprintf("%s/pets/%d", s.URL(), c.get)
	if c.get == 0 {
		url = fmt.Sprintf("%s/pets?limit=%d", s.URL(), c.limit)
		if c.after > 0 {
			url += "&cursor=" + string(petstore.CursorAfter(c.after))
		}
		if c.status != "" {
			url += "&status=" + c.status
		}
	}
	a, err := send("GET", url, key, "", "")
	if err != nil || a.status != http.StatusOK && a.status != http.StatusNotFound {
		return out
	}
	out.known = true
	if a.status == http.StatusNotFound {
		return out
	}
	body := a.body
	if c.get != 0 {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	var pets []petstore.Pet
	if err := json.Unmarshal(body, &pets); err != nil {
		return result{known: true, names: []string{"not pets: " + string(body)}}
	}
	for _, p := range pets {
		out.names = append(out.names, p.Name)
	}
	out.more = strings.Contains(a.header.Get("Link"), `rel="next"`)
	return out
}

// model is the store as a list of names: the pet with the id n has the n-th.
var model = porcupine.Model{
	Init:  func() any { return []string(nil) },
	Equal: func(a, b any) bool { return slices.Equal(a.([]string), b.([]string)) },
	Step: func(state, input, output any) (bool, any) {
		names, c, out := state.([]string), input.(call), output.(result)
		switch {
		case c.create != "":
			i := slices.Index(names, c.create)
			if i < 0 {
				i = len(names)
				names = append(slices.Clip(names), c.create)
			}
			return !out.known || out.id == int64(i)+1, names
		case c.get != 0:
			if c.get > int64(len(names)) {
				return len(out.names) == 0, names
			}
			return slices.Equal(out.names, names[c.get-1:c.get]), names
		}
		after := min(max(c.after, 0), int64(len(names)))
		to := min(after+int64(c.limit), int64(len(names)))
		return slices.Equal(out.names, names[after:to]) && out.more == (to < int64(len(names))), names
	},
}

// end stops the clients and reports whether the history is linearizable.
func (h *history) end(t *testing.T) porcupine.CheckResult {
	t.Helper()
	close(h.stop)
	h.wg.Wait()
	open := 0
	for _, op := range h.ops {
		if !op.Output.(result).known {
			open++
		}
	}
	start := time.Now()
	outcome := porcupine.CheckOperationsTimeout(model, h.ops, 2*time.Minute)
	t.Logf("history of %d operations, %d of them with an unknown outcome: %s, in %v", len(h.ops), open, outcome, time.Since(start).Round(time.Millisecond))
	return outcome
}

// The check of a history finds stale reads, which a member that is cut off serves
// if servers use serializable reads.
func TestStaleReadsAreCaught(t *testing.T) {
	c := newCluster(t, 0, local.Proxied)
	h := startHistory(t, c, "-etcd-serializable")
	m := follower(t, c)
	if err := c.CutOff(m, true); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if outcome := h.end(t); outcome != porcupine.Illegal {
		t.Errorf("the history with stale reads is %s, want %s", outcome, porcupine.Illegal)
	}
}
