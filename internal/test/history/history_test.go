package history_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

var (
	histories = flag.Int("histories", 4, "how many histories to check")
	seed      = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// record lets eight clients use a server at the same time, and cancels some of their
// requests. Halfway it calls kill while requests are under way, and start while none is.
func record(url, key string, seed uint64, requests int, kill, start func()) *history.History {
	h := history.New()
	var wg sync.WaitGroup
	var up sync.RWMutex
	for c := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			for n := range requests {
				if c == 0 && n == requests/2 {
					kill()
					up.Lock()
					start()
					up.Unlock()
				}
				up.RLock()
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(10) == 0 {
					time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
				}
				h.Do(ctx, http.DefaultClient, url, key, h.Choose(r, fmt.Sprintf("c%d-%d", c, n)))
				up.RUnlock()
				cancel()
			}
		})
	}
	wg.Wait()
	return h
}

// check checks a history, after which s is the store.
func check(t *testing.T, h *history.History, s petstore.Service) error {
	t.Helper()
	var stored []petstore.Pet
	for q := (petstore.ListQuery{Limit: petstore.MaxLimit}); ; {
		page, err := s.ListPets(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, page.Pets...)
		if q.After = page.Next; q.After == "" {
			return h.Check(stored)
		}
	}
}

// TestLinearizable kills a server while clients use it, and starts it again.
func TestLinearizable(t *testing.T) {
	for i := range *histories {
		cmd := process.Command(t.TempDir(), process.Build(t, "example.com/animalstore/cmd/refserver"), "-addr="+process.FreeAddress())
		s := process.Serve(t, cmd)
		h := record(s.URL, s.Key, *seed+uint64(i), 100, s.Kill, func() {
			s = process.Serve(t, process.Command(cmd.Dir, cmd.Args...))
		})
		s.Stop()
		store, err := storage.Open(s.Path("petstore.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, h, store); err != nil {
			t.Errorf("history %d, -seed %d: %v", i, *seed, err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
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

func (b *broken) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	n := b.calls.Add(1)
	switch {
	case b.fault == "a lost write" && n%20 == 0:
		page, err := b.Service.ListPets(ctx, petstore.ListQuery{Limit: 100})
		return petstore.Pet{ID: int64(len(page.Pets)) + 1, NewPet: p}, err
	case b.fault == "a retry that creates again":
		key = petstore.IdempotencyKey{}
	case b.fault == "another category":
		p.CategoryID++
	}
	pet, err := b.Service.CreatePet(ctx, p, key)
	switch {
	case b.fault == "a skipped ID" && n%5 == 0:
		pet.ID++
	case b.fault == "a refusal that stores" && key.Key == "" && n%5 == 0:
		return pet, petstore.Errorf(petstore.CodeUnavailable, "nothing was stored")
	}
	return pet, err
}

func (b *broken) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if b.fault == "a get that misses" && b.calls.Add(1)%5 == 0 {
		return petstore.Pet{}, petstore.ErrNotFound
	}
	pet, err := b.Service.GetPet(ctx, id)
	if b.fault == "a pet that does not exist" && errors.Is(err, petstore.ErrNotFound) {
		return petstore.Pet{ID: id}, nil
	}
	return pet, err
}

// TestCheck: Check finds the fault of each broken store, and none in a store without.
func TestCheck(t *testing.T) {
	for _, fault := range []string{"", "a stale read", "a lost write", "a retry that creates again", "a get that misses", "a pet that does not exist", "a skipped ID", "another category", "a refusal that stores"} {
		s := memory.New(nil)
		srv := httptest.NewServer(httpapi.New(&broken{Service: s, fault: fault}, testserver.Authenticator, nil))
		h := record(srv.URL, testserver.Key, *seed, 100, func() {}, func() {})
		srv.Close()
		if err := check(t, h, s); (err != nil) != (fault != "") {
			t.Errorf("%q: %v", fault, err)
		} else {
			t.Logf("%s: %v", fault, err)
		}
	}
}
