//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/etcd"
)

const writers = 16 // of a load of the whole cluster

// load is a number of writers that create pets and record the responses.
type load struct {
	cluster *cluster
	writers int
	servers []*server // that the writers use in turn
	prefix  string    // of the names
	after   int64     // all pets of the load have higher IDs
	ended   atomic.Bool
	wg      sync.WaitGroup

	mu      sync.Mutex
	ids     map[string]int64  // of acknowledged pets, by name
	unknown map[string]string // the Idempotency-Keys, by name, of pets that were not acknowledged, and may be stored once
	stored  int               // how many of these are stored
	times   []time.Time       // of acknowledgements
	highest int64             // ID
	cut     int               // responses that were cut short
	failed  map[int]int       // how often a creation failed, by status; 0: without a response
}

// startLoad starts writers. Half of them repeat a creation with its
// Idempotency-Key until it is acknowledged. The others go on with the next pet.
// Those of a single server end when it accepts no connection.
func startLoad(c *cluster, writers int, servers ...*server) *load {
	l := &load{cluster: c, writers: writers, servers: servers, ids: map[string]int64{}, unknown: map[string]string{}, failed: map[int]int{}}
	for _, before := range c.loads {
		before.mu.Lock()
		l.after = max(l.after, before.highest)
		before.mu.Unlock()
	}
	c.loads = append(c.loads, l)
	l.prefix = fmt.Sprintf("load%d-", len(c.loads))
	for w := range writers {
		l.wg.Go(func() { l.write(w) })
	}
	return l
}

func (l *load) write(w int) {
	at := w
	for n := 0; !l.ended.Load(); n++ {
		name := fmt.Sprintf("%s%d-%d", l.prefix, w, n)
		key := ""
		if w%2 == 0 {
			key = name
		}
		for {
			err := l.create(l.servers[at%len(l.servers)], name, key)
			if err == nil {
				break
			}
			if len(l.servers) == 1 && notSent(err) {
				return
			}
			at++ // this one may be down
			time.Sleep(10 * time.Millisecond)
			if key == "" || l.ended.Load() {
				break
			}
		}
	}
}

// notSent reports whether there was no connection for a request.
func notSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// create creates a pet and records the response.
func (l *load) create(s *server, name, key string) error {
	pet, r, err := s.create(name, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if r.Status != 0 && !errors.Is(err, errRefused) {
			l.cut++
		}
		if !notSent(err) {
			l.unknown[name] = key
		}
		l.failed[r.Status]++
		return err
	}
	delete(l.unknown, name)
	l.ids[name] = pet.ID
	l.highest = max(l.highest, pet.ID)
	l.times = append(l.times, time.Now())
	return nil
}

// progress waits until more pets are acknowledged, and returns how long that took.
func (l *load) progress(t *testing.T) time.Duration {
	t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.times)
	}
	before := count()
	return etcd.Eventually(t, "acknowledgements", func() error {
		if n := count(); n < before+10*l.writers {
			return fmt.Errorf("%d pets acknowledged, %d before", n, before)
		}
		return nil
	})
}

// stall returns the longest time between two acknowledgements, the second of
// which came after from.
func (l *load) stall(from time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := time.Duration(0)
	for i := 1; i < len(l.times); i++ {
		if l.times[i].After(from) {
			longest = max(longest, l.times[i].Sub(l.times[i-1]))
		}
	}
	return longest.Round(time.Millisecond)
}

// finish ends the writers, checks every server, and repeats each creation with a
// key that was not acknowledged. If its pet is stored, the response must show
// that pet.
func (l *load) finish(t *testing.T) {
	t.Helper()
	l.ended.Store(true)
	l.wg.Wait()
	t.Logf("%d acknowledged, %d with an unknown outcome; failed by status: %v", len(l.ids), len(l.unknown), l.failed)
	stored := checkLoads(t, l.cluster, l.after, l)
	for name, key := range l.unknown {
		id := stored[name]
		if id > 0 {
			l.stored++
		}
		if key == "" {
			continue
		}
		etcd.Eventually(t, "a repeated creation", func() error {
			pet, _, err := l.cluster.servers[0].create(name, key)
			if err == nil && id > 0 && pet.ID != id {
				t.Errorf("%s is stored as %d, and the repetition returned %d", name, id, pet.ID)
			}
			return err
		})
	}
}

// checkLoads lists the pets after an ID through every server, and compares them
// with what the writers of loads saw. IDs must be dense, no name may be stored
// twice, each acknowledged pet must be stored under its ID, and nothing may be
// stored that no writer sent. It returns the IDs of the pets by name.
func checkLoads(t *testing.T, c *cluster, after int64, loads ...*load) (names map[string]int64) {
	t.Helper()
	for _, s := range c.servers {
		names = map[string]int64{}
		sold := map[int64]bool{}
		for _, p := range s.list(t, "sold", after) {
			sold[p.ID] = true
		}
		for i, p := range s.list(t, "", after) {
			if p.ID != after+int64(i)+1 {
				t.Fatalf("the pet %d follows %d", p.ID, after+int64(i))
			}
			if names[p.Name] != 0 {
				t.Errorf("%s is stored twice", p.Name)
			}
			names[p.Name] = p.ID
		}
		for _, l := range loads {
			for name, id := range l.ids {
				if names[name] != id {
					t.Errorf("%s is stored as %d (0: not at all), and was acknowledged as %d", name, names[name], id)
				}
			}
			for name, id := range names {
				if !strings.HasPrefix(name, l.prefix) {
					continue
				}
				if _, sent := l.unknown[name]; l.ids[name] == 0 && !sent {
					t.Errorf("%s was never sent", name)
				}
				if !sold[id] {
					t.Errorf("%s is not in the list of its status", name)
				}
			}
		}
		if t.Failed() {
			break // another server would report the same again
		}
	}
	return names
}
