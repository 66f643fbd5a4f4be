package etcdstore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// Several processes that find no store make one. At the same time they issue each
// ID once, without gaps, and return the same pet for the same Once. A creation whose
// response was lost is stored once, and its call succeeds.
func TestProcesses(t *testing.T) {
	const processes, callers, each = 8, 6, 12
	var made atomic.Bool
	var lost atomic.Int64
	config := etcdstore.Config{Endpoints: []string{endpoint}, Prefix: newPrefix(t)}
	faulty := config.Intercepted(func(_ string, req any, send func() error) error {
		if r, ok := req.(*etcdserverpb.TxnRequest); ok && r.Success[0].GetRequestPut() != nil && made.CompareAndSwap(false, true) {
			create(t, open(t, config), petstore.NewPet{}, "") // another process has made the store meanwhile
		}
		err := send()
		if err == nil && rand.IntN(10) == 0 {
			lost.Add(1)
			return status.Error(codes.Unavailable, "the response was lost")
		}
		return err
	})
	var stores []*etcdstore.Store
	for range processes {
		stores = append(stores, open(t, faulty))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	names := map[int64]string{}
	ids := map[string]int64{}
	for i, s := range stores {
		for c := range callers {
			wg.Go(func() {
				for n := range each {
					name, key := fmt.Sprint(i, "-", c, "-", n), ""
					if n%3 == 0 {
						name = fmt.Sprint(c, "-", n) // the same in all processes
						key = name
					}
					pet := create(t, s, petstore.NewPet{Name: name, Status: petstore.Statuses()[c%3]}, key)
					mu.Lock()
					if id, ok := ids[name]; ok && id != pet.ID || names[pet.ID] != "" && names[pet.ID] != name {
						t.Errorf("the creation of %s returned %+v; before, it returned the pet %d, and the name of %d was %q", name, pet, id, pet.ID, names[pet.ID])
					}
					names[pet.ID], ids[name] = name, pet.ID
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	if t.Logf("%d responses were lost", lost.Load()); lost.Load() == 0 {
		t.Error("no response was lost")
	}
	s := open(t, config)
	const want = callers * each / 3 * (2*processes + 1)
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != 1+want || len(names) != want {
		t.Errorf("%d pets are stored (%v), %d were acknowledged, want %d", stats.Pets, err, len(names), want)
	}
	for id := range int64(1 + want) {
		if pet, err := s.GetPet(t.Context(), id+1); err != nil || pet.Name != names[id+1] {
			t.Errorf("the pet %d is %+v (%v), want %s", id+1, pet, err, names[id+1])
		}
	}
}

// etcd accepts a transaction that is full of creations with keys, even if they
// have long names and messages are among them.
func TestManyOnces(t *testing.T) {
	const callers, each = 256, 3
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				p := petstore.NewPet{Name: fmt.Sprint(c, "-", i), Status: petstore.Statuses()[c%3]}
				if c%16 == 0 {
					p.Name += strings.Repeat("x", 1000)
				}
				once := petstore.Once{Key: p.Name}
				pet, err := s.CreatePet(t.Context(), p, once)
				if err == nil && c%2 == 0 {
					_, err = s.SubmitMessage(t.Context(), p.Name, once)
				}
				again, errAgain := s.CreatePet(t.Context(), p, once)
				if err != nil || errAgain != nil || again != pet {
					t.Errorf("%d, %v; again %d, %v", pet.ID, err, again.ID, errAgain)
					return
				}
			}
		})
	}
	wg.Wait()
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != callers*each || stats.QueuedMessages != callers*each/2 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// A name may have 1 MiB of any characters. Several such names at the same time
// do not make a request that etcd refuses.
func TestLongTexts(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	var wg sync.WaitGroup
	for _, char := range []string{"x", "\x01", "ä", "\\"} {
		for _, size := range []int{32 << 10, 32<<10 + 2, 500_000, etcdstore.MaxTextBytes} {
			wg.Go(func() {
				text := strings.Repeat(char, size/len(char))
				pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: text, Status: petstore.StatusSold}, petstore.Once{Key: fmt.Sprint(char, size)})
				if err != nil {
					t.Errorf("%d bytes of %q: %v", size, char, err)
					return
				}
				if got, err := s.GetPet(t.Context(), pet.ID); err != nil || got != pet {
					t.Errorf("%d bytes of %q did not come back: %v", size, char, err)
				}
				if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
					t.Errorf("a message of %d bytes of %q: %v", size, char, err)
				}
			})
		}
	}
	wg.Wait()
	if messages, err := s.QueuedMessages(t.Context(), 100); err != nil || len(messages) == 0 {
		t.Errorf("QueuedMessages: %d, %v", len(messages), err)
	}
	long := strings.Repeat("x", etcdstore.MaxTextBytes+1)
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: long}, petstore.Once{}); petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("a longer name: %v", err)
	}
	if _, err := s.SubmitMessage(t.Context(), long, petstore.Once{}); petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("a longer message: %v", err)
	}
}
