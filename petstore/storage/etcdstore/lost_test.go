package etcdstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A creation whose response was lost is stored once, and its call succeeds.
func TestLostResponses(t *testing.T) {
	p := newProxy(t, endpoint)
	prefix := newPrefix(t)
	const processes, callers, each = 2, 4, 40
	var stores []*etcdstore.Store
	for range processes {
		stores = append(stores, open(t, etcdstore.Config{Endpoints: []string{p.url}, Prefix: prefix, RequestTimeout: time.Minute}))
	}
	p.every.Store(10)
	var mu sync.Mutex
	names := map[int64]string{}
	var wg sync.WaitGroup
	for i, s := range stores {
		for c := range callers {
			wg.Go(func() {
				for n := range each {
					name := fmt.Sprint(i, "-", c, "-", n)
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name, Status: petstore.StatusSold}, petstore.Once{})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					mu.Lock()
					names[pet.ID] = name
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	p.every.Store(0)
	t.Logf("%d responses were lost", p.lost.Load())
	if p.lost.Load() == 0 {
		t.Error("no response was lost")
	}
	stats, err := stores[0].Stats(t.Context())
	if err != nil || stats.Pets != processes*callers*each || int64(len(names)) != stats.Pets {
		t.Errorf("%d pets are stored (%v), %d were acknowledged, want %d", stats.Pets, err, len(names), processes*callers*each)
	}
	for id, name := range names {
		if pet, err := stores[1].GetPet(t.Context(), id); err != nil || pet.Name != name {
			t.Errorf("the pet %d is %+v (%v), want %s", id, pet, err, name)
		}
	}
}

// Every call ends by its timeout when the cluster is silent or gone, and succeeds
// when the cluster is back.
func TestSilence(t *testing.T) {
	const timeout = 4 * time.Second
	for _, tt := range []struct {
		name  string
		fault func(*proxy) *atomic.Bool
	}{
		{"silent", func(p *proxy) *atomic.Bool { return &p.hold }},
		{"gone", func(p *proxy) *atomic.Bool { return &p.gone }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProxy(t, endpoint)
			s := open(t, etcdstore.Config{Endpoints: []string{p.url}, Prefix: newPrefix(t), RequestTimeout: timeout})
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
				t.Fatal(err)
			}
			tt.fault(p).Store(true)
			calls := map[string]func() error{
				"get":    func() error { _, err := s.GetPet(t.Context(), 1); return err },
				"list":   func() error { _, err := s.ListPets(t.Context(), petstore.ListQuery{}); return err },
				"create": func() error { _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); return err },
				"submit": func() error { _, err := s.SubmitMessage(t.Context(), "", petstore.Once{}); return err },
				"remove": func() error { return s.RemoveMessages(t.Context(), "msg_1") },
				"ready":  func() error { return s.Ready(t.Context()) },
			}
			errs := make(chan error, len(calls))
			for name, call := range calls {
				go func() {
					err := call()
					if petstore.CodeOf(err) != petstore.CodeUnavailable {
						err = fmt.Errorf("%s: %v", name, err)
					} else {
						err = nil
					}
					errs <- err
				}()
			}
			late := time.After(timeout + 20*time.Second) // the machine may be busy
			for range calls {
				select {
				case err := <-errs:
					if err != nil {
						t.Error(err)
					}
				case <-late:
					t.Fatal("a call has not ended")
				}
			}
			p.gone.Store(true) // what was held back is lost
			time.Sleep(100 * time.Millisecond)
			p.hold.Store(false)
			p.gone.Store(false)
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
				if err == nil {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the store does not recover: %v", err)
				}
			}
		})
	}
}

// A call that sends many requests ends by its timeout too, though each of them is
// fast enough.
func TestSlowness(t *testing.T) {
	const timeout = 5 * time.Second
	p, prefix := newProxy(t, endpoint), newPrefix(t)
	s := open(t, etcdstore.Config{Endpoints: []string{p.url}, Prefix: prefix, RequestTimeout: timeout})
	ends := []petstore.Message{{ID: petstore.MessageID(1)}, {ID: petstore.MessageID(200_000_000)}}
	if err := s.ImportMessages(t.Context(), ends, 0); err != nil {
		t.Fatal(err)
	}
	p.delay.Store(int64(timeout / 40))
	start := time.Now()
	_, err := s.QueuedMessages(t.Context(), 2)
	if took := time.Since(start); took > 2*timeout || petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("reading the queue took %v, want at most %v: %v", took, timeout, err)
	}
	p.delay.Store(0)
	if got, err := s.QueuedMessages(t.Context(), 2); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
