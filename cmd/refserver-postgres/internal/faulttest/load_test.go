//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

const (
	writers = 16
	readers = 4
)

// load is writers that create pets and readers that get those that were
// acknowledged, through all servers, and what they saw.
type load struct {
	cluster *cluster
	prefix  string // of the names
	after   int64  // all pets of the load have higher IDs
	ended   atomic.Bool
	wg      sync.WaitGroup

	mu      sync.Mutex
	ids     map[string]int64  // of acknowledged pets, by name
	newest  petstore.Pet      // the acknowledged pet with the highest ID
	unknown map[string]string // the Idempotency-Keys, by name, of pets that were not acknowledged, and may be stored once
	last    time.Time         // of an acknowledgement
	stall   time.Duration     // the longest time between two acknowledgements
	wrong   []string          // responses to readers that are not the pet
}

// startLoad starts the load. Half of the writers repeat a creation with its
// Idempotency-Key until it is acknowledged. The others go on with the next pet.
func startLoad(c *cluster) *load {
	l := &load{cluster: c, ids: map[string]int64{}, unknown: map[string]string{}, last: time.Now()}
	for _, before := range c.loads {
		l.after = max(l.after, before.newest.ID)
	}
	c.loads = append(c.loads, l)
	l.prefix = fmt.Sprintf("load%d-", len(c.loads))
	for w := range writers {
		l.wg.Go(func() { l.write(w) })
	}
	for r := range readers {
		l.wg.Go(func() { l.read(c.servers[r%len(c.servers)]) })
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
		for !l.create(l.cluster.servers[at%len(l.cluster.servers)], name, key) {
			at++ // this one may be down
			time.Sleep(10 * time.Millisecond)
			if key == "" || l.ended.Load() {
				break
			}
		}
	}
}

// create creates a pet, and records and reports whether it was acknowledged.
func (l *load) create(s *server, name, key string) bool {
	pet, err := s.create(name, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" { // it was sent
			l.unknown[name] = key
		}
		return false
	}
	delete(l.unknown, name)
	l.ids[name] = pet.ID
	if pet.ID > l.newest.ID {
		l.newest = pet
	}
	l.stall, l.last = max(l.stall, time.Since(l.last)), time.Now()
	return true
}

// read gets the newest acknowledged pet through a server, again and again. A server
// may fail, but it must not respond with anything else than the pet.
func (l *load) read(s *server) {
	for ; !l.ended.Load(); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		want := l.newest
		l.mu.Unlock()
		if want.ID == 0 {
			continue
		}
		var got petstore.Pet
		r, err := s.do(http.StatusOK, &got, "GET", fmt.Sprint("/pets/", want.ID), "", "")
		l.mu.Lock()
		if err == nil && got != want || r.Status != 0 && r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable {
			l.wrong = append(l.wrong, fmt.Sprintf("%s GET /pets/%d: %d %s", time.Now().Format("15:04:05.000"), want.ID, r.Status, r.Body))
		}
		l.mu.Unlock()
	}
}

// progress waits until more pets are acknowledged.
func (l *load) progress(t *testing.T) {
	t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.ids)
	}
	before := count()
	process.Eventually(t, "acknowledgements", func() error {
		if n := count(); n < before+10*writers {
			return fmt.Errorf("%d pets acknowledged, %d before", n, before)
		}
		return nil
	})
}

// finish ends the load, and checks what is stored. It repeats each creation with a key
// that was not acknowledged: if its pet is stored, the response must be that pet.
func (l *load) finish(t *testing.T, fault string) {
	t.Helper()
	l.ended.Store(true)
	l.wg.Wait()
	stored := check(t, l.cluster, l.after, l)
	for name, key := range l.unknown {
		if key == "" {
			continue
		}
		process.Eventually(t, "a repeated creation", func() error {
			pet, err := l.cluster.servers[0].create(name, key)
			if id := stored[name]; err == nil && id > 0 && pet.ID != id {
				t.Errorf("%s is stored as %d, and the repetition returned %d", name, id, pet.ID)
			}
			return err
		})
	}
	for _, w := range l.wrong[:min(len(l.wrong), 5)] {
		t.Error(w)
	}
	t.Logf("fault: %s: %d acknowledged; longest stall %v; %d creations with an unknown outcome",
		fault, len(l.ids), l.stall.Round(time.Millisecond), len(l.unknown))
}

// check lists the pets after an ID, and compares them with what the loads saw. IDs
// must be dense, each acknowledged pet must be stored under its ID, and none twice. It
// returns the IDs by name.
func check(t *testing.T, c *cluster, after int64, loads ...*load) (ids map[string]int64) {
	t.Helper()
	ids = map[string]int64{}
	all := c.servers[0].list(t, "", after)
	if sold := c.servers[1].list(t, "sold", after); !slices.Equal(all, sold) {
		t.Errorf("%d pets, and %d in the list of their status", len(all), len(sold))
	}
	for i, p := range all {
		if p.ID != after+int64(i)+1 {
			t.Fatalf("the pet %d follows %d", p.ID, after+int64(i))
		}
		if ids[p.Name] != 0 {
			t.Errorf("%s is stored twice", p.Name)
		}
		ids[p.Name] = p.ID
	}
	for _, l := range loads {
		for name, id := range l.ids {
			if ids[name] != id {
				t.Errorf("%s is stored as %d (0: not at all), and was acknowledged as %d", name, ids[name], id)
			}
		}
	}
	return ids
}
