package storagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// RunRandom calls random operations of the store under test and the same ones of the
// store in memory, and fails where their results differ. The same seed makes the same
// operations.
//
// The store must have the settings of [Options] and do what all stores of this module
// do: it is a petstore.Messages, petstore.Queue and petstore.Statistics, its IDs are
// those of petstore.MessageID and 1, 2, 3 and so on, its cursors are those of
// petstore.CursorAfter, and it forgets the result of a create after petstore.OnceKept.
func RunRandom(t *testing.T, target Target, operations int, seed uint64) {
	f := newFixture(t, target, Options{QueueCapacity: 5}) // at times it is full
	oracle := memory.New(&memory.Options{Now: f.opts.Now, QueueCapacity: f.opts.QueueCapacity})
	r := &random{Rand: rand.New(rand.NewPCG(seed, 0))}
	for n := range operations {
		what, call := r.operation(t.Context())
		what = fmt.Sprintf("operation %d of seed %d: %s", n, seed, what)
		want, wantErr := call(oracle)
		got, err := call(f.Service.(store))
		wantCode(t, what, err, petstore.CodeOf(wantErr))
		wantEqual(t, what, want, got)
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
			f.advance(time.Duration(r.Int64N(int64(petstore.OnceKept))))
		case 1:
			if !target.Volatile {
				f.reopen(t)
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
	once := petstore.Once{Scope: pick(r, "a", "b"), Key: pick(r, "", "", "1", "2", "3", "4")}
	switch n := r.IntN(20); {
	case n < 6:
		p := petstore.NewPet{
			Name:       pick(r, "", "Rex", "Mia", "\x00", "🐈", "\xff"),
			CategoryID: pick[int64](r, 0, 1, -1, 1<<62),
			Status:     pick(r, append(petstore.Statuses(), "", "none")...),
		}
		return fmt.Sprintf("CreatePet(%+v, %+v)", p, once),
			func(s store) (any, error) { return s.CreatePet(ctx, p, once) }
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
		return fmt.Sprintf("SubmitMessage(%q, %+v)", text, once),
			func(s store) (any, error) { return s.SubmitMessage(ctx, text, once) }
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
