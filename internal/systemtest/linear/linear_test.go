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
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/internal/history"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

var (
	histories = flag.Int("histories", 4, "how many histories to check")
	seed      = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(process.Main(m))
}

// record lets eight clients use a server at the same time, cancels some of their
// requests, and returns the history of requests and responses. Halfway it calls kill
// while requests are under way, and start while none is.
func record(url, key string, seed uint64, requests int, kill, start func()) *history.History {
	h := history.New()
	var wg sync.WaitGroup
	var up sync.RWMutex
	restart := func() {
		kill()
		up.Lock()
		defer up.Unlock()
		start()
	}
	for c := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			for n := range requests {
				if c == 0 && n == requests/2 {
					restart()
				}
				up.RLock()
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(10) == 0 { // each doubles what there is to check
					time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
				}
				h.Do(h.Choose(r, fmt.Sprintf("c%d-%d", c, n)), func(req history.Request) history.Response {
					return history.Send(ctx, http.DefaultClient, url, key, req)
				})
				up.RUnlock()
				cancel()
			}
		})
	}
	wg.Wait()
	return h
}

// check reports whether a history can be explained, how many operations are in
// it, and how many of them have an unknown outcome. The more there are, the longer
// it takes. s is the store after the history.
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

// TestLinearizable kills a server while clients use it, and starts it again.
func TestLinearizable(t *testing.T) {
	total, lost := 0, 0
	for i := range *histories {
		cmd := process.Command(t.TempDir(), process.Build(t, "example.com/animalstore/cmd/refserver"), "-addr="+process.FreeAddress())
		s := process.Serve(t, cmd)
		h := record(s.URL, s.Key, *seed+uint64(i), 40, s.Kill, func() {
			s = process.Serve(t, process.Command(cmd.Dir, cmd.Args...))
		})
		s.Stop()
		store, err := storage.Open(s.Path("petstore.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		result, all, unknown := check(t, h, store, 5*time.Minute)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if result != porcupine.Ok {
			t.Errorf("history %d: %s, want %s; -seed %d", i, result, porcupine.Ok, *seed)
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
	if err == nil && b.fault == "a stale read" && len(page.Pets) > 0 && page.Next == "" && b.calls.Add(1)%5 == 0 {
		page.Pets = page.Pets[:len(page.Pets)-1] // the state before the last creation
	}
	return page, err
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
	for _, fault := range []string{"a stale read", "a lost write", "a retry that creates again", "a get that misses", "a pet that does not exist", "a skipped ID"} {
		const tries = 40
		caught := false
		for i := 0; !caught && i < tries; i++ {
			s := memory.New(nil)
			options := &httpapi.Options{Logger: slog.New(slog.DiscardHandler)}
			srv := httptest.NewServer(httpapi.New(&broken{Service: s, fault: fault}, testserver.Authenticator, options))
			h := record(srv.URL, testserver.Key, *seed+uint64(i), 12, func() {}, func() {})
			srv.Close()
			result, _, _ := check(t, h, s, 5*time.Second)
			caught = result == porcupine.Illegal
		}
		if !caught {
			t.Errorf("%s is not caught in %d histories", fault, tries)
		}
	}
}
