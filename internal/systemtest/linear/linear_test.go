package linear

import (
	"context"
	"errors"
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

	"example.com/animalstore/internal/history"
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
func record(t *testing.T, handler http.Handler, seed uint64, requests int, halfway func()) *history.History {
	t.Helper()
	srv := httptest.NewServer(handler)
	defer srv.Close()
	h := history.New()
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			for n := range requests {
				if c == 0 && n == requests/2 && halfway != nil {
					halfway()
				}
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(10) == 0 { // each doubles what there is to check
					time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
				}
				h.Do(h.Choose(r, fmt.Sprintf("c%d-%d", c, n)), func(req history.Request) history.Response {
					return history.Send(ctx, http.DefaultClient, srv.URL, testserver.Key, req)
				})
				cancel()
			}
		})
	}
	wg.Wait()
	return h
}

// check reports whether a history can be explained, how many operations are in
// it, and how many of them have an unknown outcome. The more there are, the longer
// it takes. s is the store that the handler used.
func check(t *testing.T, h *history.History, s petstore.Service, limit time.Duration) (result porcupine.CheckResult, all, unknown int) {
	t.Helper()
	var stored []petstore.Pet
	for next := (petstore.ListQuery{Limit: petstore.MaxLimit}); ; {
		page, err := s.ListPets(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, page.Pets...)
		if next.After = page.Next; page.Next == "" {
			break
		}
	}
	found, all, unknown := h.Operations(stored)
	var ops []porcupine.Operation
	for _, op := range found {
		ops = append(ops, porcupine.Operation{Input: op.Request, Output: op.Response, Call: int64(op.Call), Return: int64(op.Return)})
	}
	return porcupine.CheckOperationsTimeout(porcupine.Model{Init: history.Init, Step: history.Step}, ops, limit), all, unknown
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
		h := record(t, s, *seed+uint64(i), 40, func() { s.open(t) })
		result, all, unknown := check(t, h, s.s, 5*time.Minute)
		if result != porcupine.Ok {
			t.Errorf("history %d: %s, want %s", i, result, porcupine.Ok)
		}
		total += all
		lost += unknown
	}
	t.Logf("%d operations, %d of them with an unknown outcome", total, lost)
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
	if err != nil || len(page.Pets) == 0 || page.Next != "" || b.calls.Add(1)%5 > 0 {
		return page, err
	}
	last := len(page.Pets) - 1
	switch b.fault {
	case "a stale read":
		page.Pets = page.Pets[:last] // the state before the last creation
	case "a further page that does not exist":
		page.Next = petstore.CursorAfter(page.Pets[last].ID)
	}
	return page, nil
}

func (b *broken) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	n := b.calls.Add(1)
	switch {
	case b.fault == "a lost write" && n%20 == 0:
		page, err := b.Service.ListPets(ctx, petstore.ListQuery{Limit: 100})
		return petstore.Pet{ID: int64(len(page.Pets)) + 1, NewPet: p}, err
	case b.fault == "a retry that creates again":
		once = petstore.Once{}
	}
	pet, err := b.Service.CreatePet(ctx, p, once)
	if b.fault == "a skipped ID" && n%5 == 0 {
		pet.ID++
	}
	if b.fault == "a creation that returns another pet" && n%5 == 0 {
		pet.Name = "another"
	}
	return pet, err
}

func (b *broken) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if b.fault == "a get that misses" && b.calls.Add(1)%5 == 0 {
		return petstore.Pet{}, petstore.ErrNoPet
	}
	pet, err := b.Service.GetPet(ctx, id)
	if b.fault == "a pet that does not exist" && errors.Is(err, petstore.ErrNoPet) {
		return petstore.Pet{ID: id}, nil
	}
	return pet, err
}

// The check must find the fault of each broken store in some history.
func TestBrokenIsCaught(t *testing.T) {
	for _, fault := range []string{"a stale read", "a lost write", "a retry that creates again", "a get that misses", "a pet that does not exist", "a skipped ID", "a creation that returns another pet", "a further page that does not exist"} {
		const tries = 40
		caught, i := false, 0
		for ; !caught && i < tries; i++ {
			s := newStore(t).s
			h := record(t, handler(&broken{Service: s, fault: fault}), *seed+uint64(i), 12, nil)
			result, _, _ := check(t, h, s, 5*time.Second)
			caught = result == porcupine.Illegal
		}
		if !caught {
			t.Errorf("%s is not caught in %d histories", fault, tries)
		}
		t.Logf("%s: caught %v in %d histories", fault, caught, i)
	}
}
