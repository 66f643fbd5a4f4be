// Package randomtest compares a store of this module with the one in memory.
package randomtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// QueueCapacity is how many messages the store under test must queue at most. It is small,
// so that the queue is full at times.
const QueueCapacity = 5

// Run calls random operations of the store under test and the same ones of the
// store in memory, and fails t at the first result that differs. The seed determines the
// operations. The store must issue the same IDs and cursors as the one in memory.
func Run(t *testing.T, target storagetest.Target, operations int, seed uint64) {
	dir := t.TempDir()
	var clock atomic.Int64 // nanoseconds since 1970
	clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC).UnixNano())
	opts := storagetest.Options{Now: func() time.Time { return time.Unix(0, clock.Load()) }}
	tested := target.Open(t, dir, opts)
	defer func() { _ = tested.(io.Closer).Close() }()
	oracle := memory.New(&memory.Options{Now: opts.Now, QueueCapacity: QueueCapacity})
	r := &random{Rand: rand.New(rand.NewPCG(seed, 0))}
	for n := range operations {
		what, call := r.operation(t.Context())
		what = fmt.Sprintf("operation %d of seed %d: %s", n, seed, what)
		want, wantErr := call(oracle)
		got, err := call(tested.(store))
		if petstore.CodeOf(err) != petstore.CodeOf(wantErr) {
			t.Fatalf("%s: error %v, want %v", what, err, wantErr)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got, at most 300 characters):\n%.300s", what, diff)
		}
		switch made := want.(type) {
		case petstore.Pet:
			r.pets = max(r.pets, made.ID)
		case petstore.Message:
			if wantErr == nil {
				r.ids = append(r.ids, made.ID)
			}
		}
		switch r.IntN(20) {
		case 0:
			clock.Add(r.Int64N(int64(petstore.IdempotencyWindow)))
		case 1:
			if !target.Volatile {
				if err := tested.(io.Closer).Close(); err != nil {
					t.Fatalf("closing: %v", err)
				}
				tested = target.Open(t, dir, opts)
			}
		}
	}
}

// store is what the stores of this module have in common.
type store interface {
	petstore.Service
	petstore.Messages
	petstore.Queue
	petstore.Statistics
}

// random chooses operations.
type random struct {
	*rand.Rand
	pets int64    // how many pets the stores have
	ids  []string // of the messages that were submitted
}

// pick returns one of values.
func pick[T any](r *random, values ...T) T { return values[r.IntN(len(values))] }

// operation returns a description and a call of an operation.
func (r *random) operation(ctx context.Context) (what string, call func(store) (any, error)) {
	key := petstore.IdempotencyKey{Scope: pick(r, "a", "b"), Key: pick(r, "", "", "1", "2", "3", "4")}
	switch n := r.IntN(20); {
	case n < 6:
		p := petstore.NewPet{
			Name:       pick(r, "", "Rex", "Mia", "\x00", "🐈", "\xff"),
			CategoryID: pick[int64](r, 0, 1, -1, 1<<62),
			Status:     pick(r, append(petstore.Statuses(), "", "none")...),
		}
		return fmt.Sprintf("CreatePet(%+v, %+v)", p, key),
			func(s store) (any, error) { return s.CreatePet(ctx, p, key) }
	case n < 8:
		id := r.Int64N(r.pets+3) - 1
		return fmt.Sprintf("GetPet(%d)", id),
			func(s store) (any, error) { return s.GetPet(ctx, id) }
	case n < 13:
		q := petstore.ListQuery{
			Limit:  pick(r, 0, 1, 2, 5, 100, 101),
			Status: pick(r, append(petstore.Statuses(), "", "", "none")...),
			After:  pick(r, "", "bad", petstore.CursorAfter(1+r.Int64N(r.pets+1))),
		}
		return fmt.Sprintf("ListPets(%+v)", q),
			func(s store) (any, error) { return s.ListPets(ctx, q) }
	case n < 16:
		text := pick(r, "", "hello", "\x00", "\xff")
		return fmt.Sprintf("SubmitMessage(%q, %+v)", text, key),
			func(s store) (any, error) { return s.SubmitMessage(ctx, text, key) }
	case n < 17:
		ids := []string{"unknown"}
		for range r.IntN(4) {
			ids = append(ids, pick(r, append(ids, r.ids[max(0, len(r.ids)-8):]...)...))
		}
		return fmt.Sprintf("RemoveMessages(%q)", ids),
			func(s store) (any, error) { return nil, s.RemoveMessages(ctx, ids...) }
	case n < 19:
		limit := pick(r, 1, 2, 1000, 0)
		return fmt.Sprintf("QueuedMessages(%d)", limit),
			func(s store) (any, error) { return s.QueuedMessages(ctx, limit) }
	default:
		return "Stats", func(s store) (any, error) { return s.Stats(ctx) }
	}
}
