// Package storagetest is what every store of the project must do, as a suite
// of tests that each store runs.
//
//	func TestStore(t *testing.T) {
//		storagetest.Run(t, storagetest.Target{Open: open})
//	}
//
// [Run] holds a store against the interfaces of package petstore, one promise
// at a time. [RunRandom] holds it against the store in memory, with random
// operations.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
)

// Store is what a store is made of.
type Store interface {
	petstore.Service
	petstore.EncodedReader
	petstore.Messages
	petstore.Queue
	petstore.Statistics
	Close() error
}

// Options are the settings that the suite needs a store to have.
type Options struct {
	Now           func() time.Time // the store's clock
	QueueCapacity int              // 0: petstore.DefaultQueueCapacity
}

// Target tells the suite how to get at the store under test.
type Target struct {
	// Open opens the store that is kept in dir, and makes it if there is
	// none. dir is an empty directory at first; a store that keeps its data
	// elsewhere can take its name for one of its own. The suite closes what
	// it opened, and then may open the same dir again.
	Open func(t *testing.T, dir string, o Options) Store

	// Volatile says that nothing outlives Close.
	Volatile bool
}

// Run runs the suite.
func Run(t *testing.T, target Target) {
	tests := []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"Get", testGet},
		{"Exact", testExact},
		{"Invalid", testInvalid},
		{"Pages", testPages},
		{"ListQuery", testListQuery},
		{"PageBytes", testPageBytes},
		{"Encoded", testEncoded},
		{"Once", testOnce},
		{"OnceConcurrent", testOnceConcurrent},
		{"OnceExpires", testOnceExpires},
		{"Queue", testQueue},
		{"QueueCapacity", testQueueCapacity},
		{"Concurrent", testConcurrent},
		{"Seen", testSeen},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"Reopened", testReopened},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.test(t, newFixture(t, target, Options{}))
		})
	}
}

// fixture is a store under test and what a test needs around it.
type fixture struct {
	Store
	target Target
	dir    string
	opts   Options
	clock  *clock
}

func newFixture(t *testing.T, target Target, o Options) *fixture {
	t.Helper()
	f := &fixture{target: target, dir: t.TempDir(), clock: newClock(), opts: o}
	f.opts.Now = f.clock.now
	f.Store = target.Open(t, f.dir, f.opts)
	t.Cleanup(func() { f.Close() })
	return f
}

// reopen closes the store and opens it again. It skips the rest of the test
// for a store that forgets.
func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if f.target.Volatile {
		t.SkipNow()
	}
	if err := f.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	f.Store = f.target.Open(t, f.dir, f.opts)
}

// clock is a clock that only tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock {
	return &clock{t: time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// create adds a pet that must be accepted.
func (f *fixture) create(t *testing.T, p petstore.NewPet) petstore.Pet {
	t.Helper()
	pet, err := f.CreatePet(t.Context(), p, petstore.Once{})
	if err != nil {
		t.Fatalf("CreatePet(%.50q): %v", p.Name, err)
	}
	return pet
}

// fill adds n pets with statuses in turn, one of them none.
func (f *fixture) fill(t *testing.T, n int) []petstore.Pet {
	t.Helper()
	statuses := append(petstore.Statuses(), "")
	var pets []petstore.Pet
	for i := range n {
		pets = append(pets, f.create(t, petstore.NewPet{
			Name:       fmt.Sprintf("pet %d", i),
			CategoryID: int64(i) - 3,
			Status:     statuses[i%len(statuses)],
		}))
	}
	return pets
}

// list walks through all pages of q, and makes sure that none is longer than
// asked for and none but the only one is empty.
func (f *fixture) list(t *testing.T, q petstore.ListQuery) []petstore.Pet {
	t.Helper()
	var pets []petstore.Pet
	for {
		page, err := f.ListPets(t.Context(), q)
		if err != nil {
			t.Fatalf("ListPets(%+v): %v", q, err)
		}
		if n := len(page.Pets); q.Limit > 0 && n > q.Limit || n == 0 && q.After != "" {
			t.Fatalf("ListPets(%+v): a page of %d pets", q, n)
		}
		pets = append(pets, page.Pets...)
		if page.Next == "" {
			return pets
		}
		q.After = page.Next
	}
}

// wantCode fails unless err has that code.
func wantCode(t *testing.T, what string, err error, want petstore.Code) {
	t.Helper()
	if got := petstore.CodeOf(err); got != want {
		t.Errorf("%s: error %v has the code %q, want %q", what, err, got, want)
	}
	var e *petstore.Error
	if want == petstore.CodeInvalid && (!errors.As(err, &e) || e.Message == "") {
		t.Errorf("%s: error %v says nothing to a client", what, err)
	}
}

// wantEqual fails unless got is want.
func wantEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantPets fails unless the store holds n pets, to judge by every way of
// counting them.
func (f *fixture) wantPets(t *testing.T, n int) {
	t.Helper()
	stats, err := f.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(f.list(t, petstore.ListQuery{Limit: petstore.MaxLimit})); got != n || stats.Pets != int64(n) {
		t.Errorf("the store lists %d pets and counts %d, want %d", got, stats.Pets, n)
	}
}
