package storagetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// randomCapacity is the capacity of the queues in random runs: small enough to
// be full at times.
const randomCapacity = 5

// RunRandom calls the same random operations of the store under test, which must
// be strict and have all interfaces of package petstore, and of the store in
// memory. It fails where their results differ. The same seed always makes the
// same operations.
//
// A store is used for several sequences in a row, between which it is closed and
// opened again. The sequences of one store share its pets, keys and clock.
func RunRandom(t *testing.T, target Target, sequences int, seed uint64) {
	const sequencesPerStore = 50
	for first := 0; first < sequences; first += sequencesPerStore {
		last := min(first+sequencesPerStore, sequences)
		ok := t.Run(fmt.Sprintf("seed=%d/%d-%d", seed, first, last-1), func(t *testing.T) {
			f := newFixture(t, target, Options{QueueCapacity: randomCapacity})
			d := &duel{
				rand:   rand.New(rand.NewPCG(seed, uint64(first))),
				f:      f,
				oracle: memory.New(&memory.Options{Now: f.clock.now, QueueCapacity: randomCapacity}),
			}
			for range last - first {
				d.sequence(t)
				if !target.Volatile && d.rand.IntN(4) == 0 {
					f.reopen(t)
				}
			}
		})
		if !ok {
			return
		}
	}
}

// duel is a store, the oracle, and the source of random operations.
type duel struct {
	rand    *rand.Rand
	f       *fixture
	oracle  *memory.Store
	cursors []petstore.Cursor
	ids     []string
}

func (d *duel) sequence(t *testing.T) {
	for range 3 + d.rand.IntN(12) {
		switch n := d.rand.IntN(20); {
		case n < 6:
			d.create(t)
		case n < 8:
			d.get(t)
		case n < 13:
			d.list(t)
		case n < 16:
			d.submit(t)
		case n < 17:
			d.remove(t)
		case n < 19:
			d.queued(t)
		default:
			d.f.clock.advance(time.Duration(d.rand.Int64N(int64(petstore.OnceKept))))
		}
	}
	want, _ := d.oracle.Stats(t.Context())
	got, err := d.f.Stats(t.Context())
	compare(t, "Stats", want, got, nil, err)
}

// compare fails unless both stores returned the same.
func compare[T any](t *testing.T, what string, want, got T, wantErr, err error) {
	t.Helper()
	wantCode(t, what, err, petstore.CodeOf(wantErr))
	wantEqual(t, what, want, got)
}

// pick returns one of values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func (d *duel) once() petstore.Once {
	return petstore.Once{
		Scope: pick(d.rand, "a", "b"),
		Key:   pick(d.rand, "", "", "1", "2", "3", "4"),
	}
}

func (d *duel) create(t *testing.T) {
	p := petstore.NewPet{
		Name:       pick(d.rand, "", "Rex", "Mia", "\x00", "🐈", "\xff"),
		CategoryID: pick[int64](d.rand, 0, 1, -1, 1<<62),
		Status:     pick(d.rand, append(petstore.Statuses(), "", "none")...),
	}
	once := d.once()
	want, wantErr := d.oracle.CreatePet(t.Context(), p, once)
	got, err := d.f.CreatePet(t.Context(), p, once)
	compare(t, fmt.Sprintf("CreatePet(%+v, %+v)", p, once), want, got, wantErr, err)
}

func (d *duel) get(t *testing.T) {
	stats, _ := d.oracle.Stats(t.Context())
	id := d.rand.Int64N(stats.Pets+3) - 1
	want, wantErr := d.oracle.GetPet(t.Context(), id)
	got, err := d.f.GetPet(t.Context(), id)
	compare(t, fmt.Sprintf("GetPet(%d)", id), want, got, wantErr, err)
	if d.f.EncodedReader == nil {
		return
	}
	wantJSON, _ := d.oracle.AppendPet(t.Context(), nil, id)
	gotJSON, err := d.f.AppendPet(t.Context(), nil, id)
	compare(t, fmt.Sprintf("AppendPet(%d)", id), string(wantJSON), string(gotJSON), wantErr, err)
}

func (d *duel) list(t *testing.T) {
	q := petstore.ListQuery{
		Limit:  pick(d.rand, 0, 1, 2, 5, 100, 101),
		Status: pick(d.rand, append(petstore.Statuses(), "", "", "none")...),
		After:  pick(d.rand, append(d.cursors, "", "bad")...),
	}
	want, wantErr := d.oracle.ListPets(t.Context(), q)
	got, err := d.f.ListPets(t.Context(), q)
	compare(t, fmt.Sprintf("ListPets(%+v)", q), want, got, wantErr, err)
	if want.Next != "" {
		d.cursors = append(d.cursors, want.Next)
	}
	if d.f.EncodedReader == nil {
		return
	}
	wantJSON, _, _ := d.oracle.AppendPage(t.Context(), nil, q)
	gotJSON, next, err := d.f.AppendPage(t.Context(), nil, q)
	compare(t, fmt.Sprintf("AppendPage(%+v)", q), string(wantJSON), string(gotJSON), wantErr, err)
	compare(t, "AppendPage's cursor", want.Next, next, nil, nil)
}

func (d *duel) submit(t *testing.T) {
	text := pick(d.rand, "", "hello", "\x00", "\xff")
	once := d.once()
	want, wantErr := d.oracle.SubmitMessage(t.Context(), text, once)
	got, err := d.f.SubmitMessage(t.Context(), text, once)
	compare(t, fmt.Sprintf("SubmitMessage(%q, %+v)", text, once), want, got, wantErr, err)
	if err == nil {
		d.ids = append(d.ids, got.ID)
	}
}

func (d *duel) remove(t *testing.T) {
	var ids []string
	for range d.rand.IntN(4) {
		ids = append(ids, pick(d.rand, append(d.ids, "unknown")...))
	}
	wantErr := d.oracle.RemoveMessages(t.Context(), ids...)
	err := d.f.RemoveMessages(t.Context(), ids...)
	compare(t, fmt.Sprintf("RemoveMessages(%q)", ids), 0, 0, wantErr, err)
}

func (d *duel) queued(t *testing.T) {
	limit := pick(d.rand, 1, 2, 1000, 0)
	want, wantErr := d.oracle.QueuedMessages(t.Context(), limit)
	got, err := d.f.QueuedMessages(t.Context(), limit)
	compare(t, fmt.Sprintf("QueuedMessages(%d)", limit), want, got, wantErr, err)
}
