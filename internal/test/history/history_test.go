package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// record lets eight clients use a server at the same time, and cancels some of their
// requests.
func record(url, key string) *history.History {
	h := history.New()
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(c)))
			for n := range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(10) == 0 {
					time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
				}
				req := h.Choose(r, fmt.Sprintf("c%d-%d", c, n))
				if n%5 == 0 {
					req = history.Request{Message: fmt.Sprintf("c%d-%d", c, n/10)} // sent twice
				}
				_, _ = h.Do(ctx, http.DefaultClient, url, key, req)
				cancel()
			}
		})
	}
	wg.Wait()
	return h
}

// broken returns a store with a fault that shows every few calls.
func broken(fault string) *testserver.Double {
	d := testserver.NewDouble(nil)
	list, create, get, submit := d.DoListPets, d.DoCreatePet, d.DoGetPet, d.DoSubmitMessage
	var calls atomic.Int64
	d.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := list(ctx, q)
		if err == nil && fault == "a stale read" && len(page.Pets) > 0 && page.Next == "" && calls.Add(1)%5 == 0 {
			page.Pets = page.Pets[:len(page.Pets)-1] // the state before the last creation
		}
		return page, err
	}
	d.DoCreatePet = func(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		n := calls.Add(1)
		switch {
		case fault == "a lost write" && n%20 == 0:
			page, err := list(ctx, petstore.ListQuery{Limit: 100})
			return petstore.Pet{ID: int64(len(page.Pets)) + 1, NewPet: p}, err
		case fault == "a retry that creates again":
			key = petstore.IdempotencyKey{}
		case fault == "another category":
			p.CategoryID++
		}
		pet, err := create(ctx, p, key)
		switch {
		case fault == "a skipped ID" && n%5 == 0:
			pet.ID++
		case fault == "a refusal that stores" && key.Key == "" && n%5 == 0:
			return pet, petstore.Errorf(petstore.CodeUnavailable, "nothing was stored")
		}
		return pet, err
	}
	d.DoGetPet = func(ctx context.Context, id int64) (petstore.Pet, error) {
		if fault == "a get that misses" && calls.Add(1)%5 == 0 {
			return petstore.Pet{}, petstore.ErrNotFound
		}
		pet, err := get(ctx, id)
		if fault == "a pet that does not exist" && errors.Is(err, petstore.ErrNotFound) {
			return petstore.Pet{ID: id}, nil
		}
		return pet, err
	}
	d.DoSubmitMessage = func(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
		n := calls.Add(1)
		switch {
		case fault == "a lost message" && n%20 == 0:
			return petstore.Message{ID: "msg_0", Text: text, Status: petstore.MessageQueued, CreatedAt: time.Now().UTC()}, nil
		case fault == "a message that is queued twice":
			key = petstore.IdempotencyKey{}
		}
		m, err := submit(ctx, text, key)
		if fault == "a refused message that is queued" {
			return m, petstore.Errorf(petstore.CodeUnavailable, "nothing was stored")
		}
		return m, err
	}
	return d
}

// TestCheck: Check finds the fault of each broken store, and none in a store without.
func TestCheck(t *testing.T) {
	for _, fault := range []string{
		"", "a stale read", "a lost write", "a retry that creates again", "a get that misses", "a pet that does not exist",
		"a skipped ID", "another category", "a refusal that stores",
		"a lost message", "a message that is queued twice", "a refused message that is queued",
	} {
		b := broken(fault)
		srv := httptest.NewServer(httpapi.New(b, testserver.Authenticator, &httpapi.Options{Messages: b}))
		h := record(srv.URL, testserver.Key)
		srv.Close()
		pets, err := history.Pets(t.Context(), b.Store)
		messages, e := b.QueuedMessages(t.Context(), petstore.MaxQueueLimit)
		if err := errors.Join(err, e); err != nil {
			t.Fatal(err)
		}
		if err := h.Check(pets, messages); (err != nil) != (fault != "") {
			t.Errorf("%q: %v", fault, err)
		} else {
			t.Logf("%s: %v", fault, err)
		}
	}
}
