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
// [Run] tests the promises of package petstore one by one. A whole store with its test is
// in examples/ownstore.
package storagetest

import (
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/animalstore/petstore"
)

// Options are what Run passes to Open for the store under test.
type Options struct {
	// Now is the store's clock. If the store ignores it, the test of IdempotencyWindow
	// shows only that keys do not expire at once.
	Now func() time.Time

	// QueueCapacity is how many messages the queue holds at most: the store must refuse
	// another one.
	QueueCapacity int
}

// Target is the store under test.
type Target struct {
	// Open opens the store that is kept in dir, and creates a missing one.
	// dir is an empty directory at first; a store that keeps its data
	// elsewhere can use it as a name. Open fails t on an error.
	//
	// The tests find by type assertion whether the store is also a
	// petstore.Statistics or io.Closer, or both
	// petstore.Messages and petstore.Queue, and skip the tests of the others.
	// After Close every call must return an error, whichever it is; only
	// another Close may return none. The tests close what they opened, and may
	// open the same dir again.
	Open func(t *testing.T, dir string, o Options) petstore.Service

	// Volatile says that the store keeps nothing after Close. Then no test closes the
	// store and opens it again.
	Volatile bool

	// IgnoresQueueCapacity says that the store's queue has no limit, or another one than
	// Options.QueueCapacity. Then the test of Capacity is skipped.
	IgnoresQueueCapacity bool
}

// Run runs the tests, each on a store of its own. A test ends at its first
// failed check.
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
		{"Idempotency", testIdempotency},
		{"IdempotencyWindow", testIdempotencyWindow},
		{"Concurrent", testConcurrent},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"Queue", testQueue},
		{"Capacity", testCapacity},
		{"MessageIdempotency", testMessageIdempotency},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.test(t, newFixture(t, target))
		})
	}
}

// fixture is a store under test. The interfaces that the store does not have
// are nil.
type fixture struct {
	petstore.Service
	petstore.Messages
	petstore.Queue
	petstore.Statistics
	closer io.Closer

	target Target
	dir    string
	opts   Options
	clock  atomic.Int64 // the store's time, in nanoseconds since 1970
}

func newFixture(t *testing.T, target Target) *fixture {
	t.Helper()
	f := &fixture{target: target, dir: t.TempDir()}
	f.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC).UnixNano())
	f.opts.Now = func() time.Time { return time.Unix(0, f.clock.Load()) }
	f.opts.QueueCapacity = 20
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
	if queue, ok := f.Service.(petstore.Queue); ok {
		if f.Messages, ok = f.Service.(petstore.Messages); ok {
			f.Queue = queue
		}
	}
	f.Statistics, _ = f.Service.(petstore.Statistics)
	f.closer, _ = f.Service.(io.Closer)
}

// reopen closes the store and opens it again, unless the store keeps nothing after Close or
// has no Close.
func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if f.target.Volatile || f.closer == nil {
		t.Log("not closed and opened again: the store is Volatile, or not an io.Closer")
		return
	}
	if err := f.closer.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	f.open(t)
}

// advance advances the store's clock, which is otherwise stopped.
func (f *fixture) advance(d time.Duration) { f.clock.Add(int64(d)) }

// create adds a pet that must be accepted.
func (f *fixture) create(t *testing.T, p petstore.NewPet) petstore.Pet {
	t.Helper()
	return f.createWithKey(t, p, petstore.IdempotencyKey{})
}

func (f *fixture) createWithKey(t *testing.T, p petstore.NewPet, key petstore.IdempotencyKey) petstore.Pet {
	t.Helper()
	pet, err := f.CreatePet(t.Context(), p, key)
	if err != nil {
		t.Fatalf("CreatePet(%.50q, %+v): %v", p.Name, key, err)
	}
	return pet
}

// fill adds n pets with statuses in turn, one of them none.
func (f *fixture) fill(t *testing.T, n int) (pets []petstore.Pet) {
	t.Helper()
	statuses := append(petstore.Statuses(), "")
	last := int64(0)
	for i := range n {
		pet := f.create(t, petstore.NewPet{
			Name:       fmt.Sprintf("pet %d", i),
			CategoryID: int64(i) - 3,
			Status:     statuses[i%len(statuses)],
		})
		if pet.ID <= last {
			t.Fatalf("CreatePet returned the ID %d after the ID %d", pet.ID, last)
		}
		last = pet.ID
		pets = append(pets, pet)
	}
	return pets
}

// wantCode fails unless err has that code.
func wantCode(t *testing.T, what string, err error, want petstore.Code) {
	t.Helper()
	if got := petstore.CodeOf(err); got != want {
		t.Fatalf("%s: error %v has the code %q, want %q", what, err, got, want)
	}
}

// wantEqual fails unless got is want. An empty slice is equal to nil.
func wantEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got, at most 300 characters):\n%.300s", what, diff)
	}
}

// wantPets fails unless the store holds n pets.
func (f *fixture) wantPets(t *testing.T, n int) {
	t.Helper()
	if got := len(f.list(t, petstore.ListQuery{Limit: petstore.MaxLimit})); got != n {
		t.Fatalf("ListPets returned %d pets on all pages, want %d", got, n)
	}
	if f.Statistics == nil {
		return
	}
	if stats, err := f.Stats(t.Context()); err != nil || stats.Pets != int64(n) {
		t.Fatalf("Stats counts %d pets (%v), want %d", stats.Pets, err, n)
	}
}
