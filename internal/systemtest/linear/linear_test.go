package linear

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

var (
	histories = flag.Int("histories", 4, "how many histories to check")
	seed      = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

const clients = 8

// reopened is a handler whose store is closed and opened again while it is used.
type reopened struct {
	path string
	mu   sync.RWMutex
	s    *storage.Store
}

func (r *reopened) open(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.s != nil {
		if err := r.s.Close(); err != nil {
			t.Error(err)
		}
	}
	var err error
	if r.s, err = storage.Open(r.path, nil); err != nil {
		t.Fatal(err)
	}
}

func (r *reopened) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.RLock()
	s := r.s
	r.mu.RUnlock()
	handler(s).ServeHTTP(w, req)
}

func handler(s petstore.Service) http.Handler {
	return httpapi.New(s, testserver.Authenticator, &httpapi.Options{Logger: slog.New(slog.DiscardHandler)})
}

// record lets clients use a handler at the same time, cancels some of their
// requests, and returns the history of requests and responses.
func record(t *testing.T, h http.Handler, seed uint64, requests int, halfway func()) []porcupine.Operation {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	var mu sync.Mutex
	var all []porcupine.Operation
	var highest atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			again := "" // a pet whose creation has an unknown outcome
			for n := range requests {
				if c == 0 && n == requests/2 && halfway != nil {
					halfway()
				}
				in := choose(r, fmt.Sprintf("c%d-%d", c, n), again, int(highest.Load()))
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(10) == 0 { // each doubles what there is to check
					time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
				}
				call := time.Since(began)
				out := do(ctx, srv.URL, in)
				op := porcupine.Operation{ClientId: c, Input: in, Call: int64(call), Output: out, Return: int64(time.Since(began))}
				cancel()
				if again = ""; in.op == "create" && out.unknown {
					again = in.name
					op.Return = int64(time.Hour) // it may still take effect
				}
				if in.op == "create" && !out.unknown {
					highest.Store(max(highest.Load(), int64(out.id)))
				}
				mu.Lock()
				all = append(all, op)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for i := range all { // a client does one thing at a time, as far as it knows
		all[i].ClientId = i
	}
	return all
}

func choose(r *rand.Rand, name, again string, highest int) input {
	switch k := r.IntN(6); {
	case again != "" && k < 4:
		return input{op: "create", name: again}
	case k < 3:
		return input{op: "create", name: name}
	case k == 3:
		return input{op: "get", id: 1 + r.IntN(highest+2)}
	default:
		return input{op: "list", id: r.IntN(highest + 1), limit: 1 + r.IntN(20)}
	}
}

// check reports whether a history can be explained, and how many outcomes in it
// are unknown. The more there are, the longer it takes.
func check(history []porcupine.Operation, limit time.Duration) (porcupine.CheckResult, int) {
	unknown := 0
	for _, op := range history {
		if op.Output.(output).unknown {
			unknown++
		}
	}
	return porcupine.CheckOperationsTimeout(model, history, limit), unknown
}

func newStore(t *testing.T) *reopened {
	t.Helper()
	r := &reopened{path: filepath.Join(t.TempDir(), "pets.db")}
	r.open(t)
	t.Cleanup(func() { r.s.Close() })
	return r
}

func TestLinearizable(t *testing.T) {
	t.Logf("%d histories, -seed %d", *histories, *seed)
	total, lost := 0, 0
	for i := range *histories {
		s := newStore(t)
		history := record(t, s, *seed+uint64(i), 40, func() { s.open(t) })
		result, unknown := check(history, 5*time.Minute)
		if result != porcupine.Ok {
			t.Errorf("history %d: %s, want %s", i, result, porcupine.Ok)
		}
		total += len(history)
		lost += unknown
	}
	t.Logf("%d requests, %d with an unknown outcome", total, lost)
	if lost == 0 {
		t.Error("no outcome was unknown")
	}
}

// broken is a store with a fault that shows every few calls.
type broken struct {
	petstore.Service
	fault string
	calls atomic.Int64
}

func (b *broken) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, err := b.Service.ListPets(ctx, q)
	if b.fault == "a stale read" && err == nil && b.calls.Add(1)%5 == 0 && len(page.Pets) > 0 && page.Next == "" {
		page.Pets = page.Pets[:len(page.Pets)-1] // the state before the last creation
	}
	return page, err
}

func (b *broken) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	switch n := b.calls.Add(1); {
	case b.fault == "a lost write" && n%20 == 0:
		page, err := b.Service.ListPets(ctx, petstore.ListQuery{Limit: 100})
		return petstore.Pet{ID: int64(len(page.Pets)) + 1, NewPet: p}, err
	case b.fault == "a retry that creates again":
		once = petstore.Once{}
	}
	return b.Service.CreatePet(ctx, p, once)
}

func (b *broken) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if b.fault == "a get that misses" && b.calls.Add(1)%5 == 0 {
		return petstore.Pet{}, petstore.ErrNoPet
	}
	return b.Service.GetPet(ctx, id)
}

// The check must find the fault of each broken store in some history.
func TestBrokenIsCaught(t *testing.T) {
	for _, fault := range []string{"a stale read", "a lost write", "a retry that creates again", "a get that misses"} {
		const tries = 40
		caught, i := false, 0
		for ; !caught && i < tries; i++ {
			history := record(t, handler(&broken{Service: newStore(t).s, fault: fault}), *seed+uint64(i), 12, nil)
			result, _ := check(history, 5*time.Second)
			caught = result == porcupine.Illegal
		}
		if !caught {
			t.Errorf("%s is not caught in %d histories", fault, tries)
		}
		t.Logf("%s: caught %v in %d histories", fault, caught, i)
	}
}
