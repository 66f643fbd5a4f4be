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
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/animalstore/petstore"
)

// Options are what Run passes to Open for the store under test.
type Options struct {
	// QueueCapacity is how many messages the queue must hold; it must refuse another one.
	QueueCapacity int
}

// Target is the store under test.
type Target struct {
	// Open opens the store that is kept in dir, and creates a missing one. dir is an empty
	// directory at first; a store that keeps its data elsewhere can use it as a name. Open
	// fails t on an error.
	//
	// The store may also be a petstore.Statistics, an io.Closer, or both a
	// petstore.Messages and a petstore.Queue. The tests find this by type assertion, and
	// skip what the store is not.
	//
	// The tests close what they opened, and may open the same dir again. After Close every
	// call must return an error, whichever it is; only another Close may return none.
	Open func(t *testing.T, dir string, o Options) petstore.Service

	// Volatile says that the store keeps nothing after Close. Then no test opens a store
	// again.
	Volatile bool

	// RealTime says that the store cannot run in a bubble of package testing/synctest, because
	// it uses the network or another clock than time.Now. Then the test IdempotencyWindow, for
	// which days must pass, is skipped.
	RealTime bool

	// IgnoresQueueCapacity says that the store's queue has no limit, or another one than
	// Options.QueueCapacity. Then the test Capacity is skipped.
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
		{"Concurrent", testConcurrent},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"Queue", testQueue},
		{"Capacity", testCapacity},
		{"MessageIdempotency", testMessageIdempotency},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { target.run(t, tt.test) })
	}
	t.Run("IdempotencyWindow", func(t *testing.T) {
		if target.RealTime {
			t.Skip("the store cannot run in a bubble")
		}
		synctest.Test(t, func(t *testing.T) { target.run(t, testIdempotencyWindow) })
	})
}

func (target Target) run(t *testing.T, test func(*testing.T, *fixture)) {
	f := &fixture{target: target, dir: t.TempDir()}
	f.open(t)
	defer func() {
		if f.closer != nil {
			_ = f.closer.Close()
		}
	}()
	test(t, f)
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
}

const queueCapacity = 20

func (f *fixture) open(t *testing.T) {
	t.Helper()
	f.Service = f.target.Open(t, f.dir, Options{QueueCapacity: queueCapacity})
	if queue, ok := f.Service.(petstore.Queue); ok {
		if f.Messages, ok = f.Service.(petstore.Messages); ok {
			f.Queue = queue
		}
	}
	f.Statistics, _ = f.Service.(petstore.Statistics)
	f.closer, _ = f.Service.(io.Closer)
}

// reopen closes the store and opens it again, if it keeps its data.
func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if f.target.Volatile || f.closer == nil {
		t.Log("not closed and opened again: the store is Volatile, or not an io.Closer")
		return
	}
	if err := f.closer.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	f.open(t)
}

// wantCode fails unless err has that code.
func wantCode(t *testing.T, what string, err error, want petstore.Code) {
	t.Helper()
	if got := petstore.CodeOf(err); got != want {
		t.Fatalf("%s returned the error %v with the code %q, want the code %q", what, err, got, want)
	}
}

// wantEqual fails unless got is want. An empty slice is equal to nil.
func wantEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got, at most 300 characters):\n%.300s", what, diff)
	}
}
