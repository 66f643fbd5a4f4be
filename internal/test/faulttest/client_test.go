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
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// callers call petstore/client at the same time, until one of their calls fails.
type callers struct {
	t      *testing.T
	client *client.Client
	wg     sync.WaitGroup
	ended  atomic.Bool
	calls  atomic.Int64 // that succeeded

	mu   sync.Mutex
	pets []petstore.Pet // that the calls have created
}

// startCalls starts callers of a server. The client repeats each request until the deadline
// of the call.
func startCalls(t *testing.T, s *process.Server) *callers {
	t.Helper()
	c, err := client.New(s.URL, s.Key, &client.Options{
		HTTPClient:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: patience},
		RetryWrites: true,
		MaxAttempts: math.MaxInt,
		MinBackoff:  10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &callers{t: t, client: c}
	for i := range 16 {
		l.wg.Go(func() {
			for n := 0; !l.ended.Load(); n++ {
				if err := l.call(fmt.Sprintf("%d-%d", i, n), n%4 == 0); err != nil {
					t.Error(err)
					return
				}
				l.calls.Add(1)
			}
		})
	}
	return l
}

// call lists pets or creates one with that name.
func (l *callers) call(name string, list bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	if list {
		_, err := l.client.ListPets(ctx, petstore.ListQuery{Limit: 5})
		return err
	}
	pet, err := l.client.CreatePet(ctx, petstore.NewPet{Name: name}, petstore.IdempotencyKey{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pets = append(l.pets, pet)
	return err
}

// finish ends the callers. The server must have the pets that they have created, and no
// others.
func (l *callers) finish() {
	l.t.Helper()
	l.ended.Store(true)
	l.wg.Wait()
	stored, err := history.Pets(l.t.Context(), l.client)
	slices.SortFunc(l.pets, func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil || !slices.Equal(stored, l.pets) {
		l.t.Errorf("%d pets are stored, which are not the %d that the calls have created; %v", len(stored), len(l.pets), err)
	}
	l.t.Logf("%d calls, %d pets created", l.calls.Load(), len(l.pets))
}

// TestClientRestarts kills and stops the server at random moments, and starts it
// again at the same address, while callers use petstore/client. No caller may see
// an error.
func TestClientRestarts(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir, drain := t.TempDir(), "-drain=2m" // the machine may be busy
	// A port of 127.0.0.2 is taken by nothing else while the server is stopped.
	s := start(t, dir, drain, "-addr=127.0.0.2:0")
	l := startCalls(t, s)
	untilCalls := func() {
		before := l.calls.Load()
		s.Until("a call succeeds", func() bool { return l.calls.Load() > before })
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
	l.finish()
}
