// Package storagetest tests stores of pets. A store needs only the methods of
// [petstore.Service]:
//
//	func TestStore(t *testing.T) {
//		storagetest.Run(t, storagetest.Target{
//			Volatile: true,
//			Open: func(*testing.T, string, storagetest.Options) petstore.Service { return mystore.New() },
//		})
//	}
//
// [Run] tests the promises of package petstore one by one. [RunRandom] compares
// a store of this module with the store in memory, by random operations. A whole
// store with its test is in examples/ownstore.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
)

// Options are the settings that a strict store has. Other stores may ignore
// them.
type Options struct {
	Now           func() time.Time // the store's clock
	QueueCapacity int              // 0: petstore.DefaultQueueCapacity
}

// Target is the store under test.
type Target struct {
	// Open opens the store that is kept in dir, and creates a missing one.
	// dir is an empty directory at first; a store that keeps its data
	// elsewhere can use it as a name. Open fails t on an error.
	//
	// The tests find by type assertion whether the store is also a
	// petstore.EncodedReader, petstore.Messages, petstore.Queue,
	// petstore.Statistics or io.Closer, and skip the tests of the others.
	// After Close every call must fail with petstore.CodeUnavailable, except
	// Close. The tests close what they opened, and may open the same dir
	// again.
	Open func(t *testing.T, dir string, o Options) petstore.Service

	// Volatile says that the store keeps nothing after Close.
	Volatile bool

	// Strict says that the store has the settings of Options and does what
	// all stores of this module do, beyond the interfaces: its IDs are 1, 2,
	// 3 and so on, its cursors are those of petstore.CursorAfter, and it
	// forgets the result of a create after petstore.OnceKept.
	Strict bool

	// OwnClock says that a Strict store does not use Options.Now to forget the
	// results of creates. The tests do not wait until it does.
	OwnClock bool
}

// Run runs the tests, each on a store of its own.
func Run(t *testing.T, target Target) {
	tests := []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"Get", testGet},
		{"Invalid", testInvalid},
		{"Pages", testPages},
		{"ListQuery", testListQuery},
		{"PageBytes", testPageBytes},
		{"Once", testOnce},
		{"OnceConcurrent", testOnceConcurrent},
		{"OnceExpires", testOnceExpires},
		{"Concurrent", testConcurrent},
		{"Seen", testSeen},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"Encoded", testEncoded},
		{"Messages", testMessages},
		{"MessagesOnce", testMessagesOnce},
		{"Queue", testQueue},
		{"QueueCapacity", testQueueCapacity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.test(t, newFixture(t, target, Options{}))
		})
	}
}

// fixture is a store under test. The interfaces that the store does not have
// are nil.
type fixture struct {
	petstore.Service
	petstore.EncodedReader
	petstore.Messages
	petstore.Queue
	petstore.Statistics
	closer io.Closer

	target Target
	dir    string
	opts   Options
	clock  *clock
}

func newFixture(t *testing.T, target Target, o Options) *fixture {
	t.Helper()
	f := &fixture{target: target, dir: t.TempDir(), clock: newClock(), opts: o}
	f.opts.Now = f.clock.now
	f.open(t)
	t.Cleanup(func() {
		if f.closer != nil {
			_ = f.closer.Close()
		}
	})
	return f
}

func (f *fixture) open(t *testing.T) {
	t.Helper()
	f.Service = f.target.Open(t, f.dir, f.opts)
	f.EncodedReader, _ = f.Service.(petstore.EncodedReader)
	f.Messages, _ = f.Service.(petstore.Messages)
	f.Queue, _ = f.Service.(petstore.Queue)
	f.Statistics, _ = f.Service.(petstore.Statistics)
	f.closer, _ = f.Service.(io.Closer)
}

// reopen closes the store and opens it again. It skips the rest of the test for
// a store that keeps nothing or cannot be closed.
func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if f.target.Volatile || f.closer == nil {
		t.SkipNow()
	}
	if err := f.closer.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	f.open(t)
}

// clock is a clock that only the test advances.
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
	return f.createOnce(t, p, petstore.Once{})
}

func (f *fixture) createOnce(t *testing.T, p petstore.NewPet, once petstore.Once) petstore.Pet {
	t.Helper()
	pet, err := f.CreatePet(t.Context(), p, once)
	if err != nil {
		t.Fatalf("CreatePet(%.50q, %+v): %v", p.Name, once, err)
	}
	return pet
}

// fill adds n pets with statuses in turn, one of them none, and returns pets
// with them at its end.
func (f *fixture) fill(t *testing.T, n int, pets ...petstore.Pet) []petstore.Pet {
	t.Helper()
	statuses := append(petstore.Statuses(), "")
	last := int64(0)
	for _, pet := range pets {
		last = pet.ID
	}
	for i := range n {
		pet := f.create(t, petstore.NewPet{
			Name:       fmt.Sprintf("pet %d", i),
			CategoryID: int64(i) - 3,
			Status:     statuses[i%len(statuses)],
		})
		if pet.ID <= last || f.target.Strict && pet.ID != last+1 {
			t.Errorf("the pet after the one with ID %d has ID %d", last, pet.ID)
		}
		last = pet.ID
		pets = append(pets, pet)
	}
	return pets
}

// list returns the pets on all pages of q. It checks that no page is longer than
// asked for, and that only a single page is empty.
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
		t.Errorf("%s: error %v has no message for a client", what, err)
	}
}

// wantEqual fails unless got is want.
func wantEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantPets fails unless the store holds n pets.
func (f *fixture) wantPets(t *testing.T, n int) {
	t.Helper()
	if got := len(f.list(t, petstore.ListQuery{Limit: petstore.MaxLimit})); got != n {
		t.Errorf("the store lists %d pets, want %d", got, n)
	}
	if f.Statistics == nil {
		return
	}
	if stats, err := f.Stats(context.Background()); err != nil || stats.Pets != int64(n) {
		t.Errorf("Stats counts %d pets (%v), want %d", stats.Pets, err, n)
	}
}
