//go:build linux

package faulttest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// TestClientRestarts kills and stops the server at random moments, and starts it
// again at the same address, while callers use petstore/client. No caller may see
// an error, and the server must have the pets that they have created, and no others.
func TestClientRestarts(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir, drain := t.TempDir(), "-drain=2m" // the machine may be busy
	// A port of 127.0.0.2 is taken by nothing else while the server is stopped.
	s := start(t, dir, drain, "-addr=127.0.0.2:0")
	c, err := client.New(s.URL, s.Key, &client.Options{
		HTTPClient:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: patience},
		RetryWrites: true,
		MaxAttempts: math.MaxInt, // until the deadline of the call
		MinBackoff:  10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	var ended atomic.Bool
	var calls atomic.Int64 // that succeeded
	var mu sync.Mutex
	var created []petstore.Pet
	call := func(name string, list bool) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
		defer cancel()
		if list {
			_, err := c.ListPets(ctx, petstore.ListQuery{Limit: 5})
			return err
		}
		pet, err := c.CreatePet(ctx, petstore.NewPet{Name: name}, petstore.IdempotencyKey{})
		mu.Lock()
		defer mu.Unlock()
		created = append(created, pet)
		return err
	}
	for i := range 16 {
		callers.Go(func() {
			for n := 0; !ended.Load(); n++ {
				if err := call(fmt.Sprintf("%d-%d", i, n), n%4 == 0); err != nil {
					t.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	untilCalls := func() {
		before := calls.Load()
		s.Until("a call succeeds", func() bool { return calls.Load() > before })
	}
	for round := range n {
		untilCalls()
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		if round%2 == 0 {
			s.Kill()
		} else {
			s.Stop()
		}
		s = start(t, dir, drain, "-addr="+s.Host())
	}
	untilCalls()
	ended.Store(true)
	callers.Wait()
	stored, err := history.Pets(t.Context(), c)
	slices.SortFunc(created, func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil || !slices.Equal(stored, created) {
		t.Errorf("%d pets are stored, which are not the %d that the calls have created; %v", len(stored), len(created), err)
	}
	t.Logf("%d calls, %d pets created", calls.Load(), len(created))
}
