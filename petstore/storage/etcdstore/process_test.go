package etcdstore_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// Several processes at the same time issue each id once, without gaps, and
// return the same pet for the same Once.
func TestProcesses(t *testing.T) {
	const processes, callers, each = 4, 8, 15
	prefix := newPrefix(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[int64]bool{}
	onces := map[string]int64{}
	for p := range processes {
		s := open(t, etcdstore.Config{Prefix: prefix, RequestTimeout: time.Minute})
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					var once petstore.Once
					if i%3 == 0 {
						once.Key = fmt.Sprint(c, "-", i) // the same in all processes
					}
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: once.Key, Status: petstore.Statuses()[c%3]}, once)
					if err != nil {
						t.Errorf("process %d: %v", p, err)
						return
					}
					mu.Lock()
					if once.Key != "" {
						if id, ok := onces[once.Key]; ok && id != pet.ID {
							t.Errorf("the creation %s returned the pets %d and %d", once.Key, id, pet.ID)
						}
						onces[once.Key] = pet.ID
					} else if ids[pet.ID] {
						t.Errorf("the id %d was issued twice", pet.ID)
					}
					ids[pet.ID] = true
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	s := open(t, etcdstore.Config{Prefix: prefix})
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Pets != int64(len(ids)) {
		t.Errorf("the store counts %d pets (%v), and %d ids were issued", stats.Pets, err, len(ids))
	}
	for id := range stats.Pets {
		if !ids[id+1] {
			t.Errorf("the id %d was not issued", id+1)
		}
	}
}

// etcd accepts a transaction that is full of creations with keys, even if they
// have long names and messages are among them.
func TestManyOnces(t *testing.T) {
	const callers, each = 256, 3
	s := open(t, etcdstore.Config{Prefix: newPrefix(t), RequestTimeout: time.Minute})
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
	messages, err := s.QueuedMessages(t.Context(), 100)
	if err != nil || len(messages) == 0 {
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

// A queue can be read after messages were removed from its middle.
func TestQueueWithGaps(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	var many []petstore.Message
	for i := range 1400 {
		many = append(many, petstore.Message{ID: petstore.MessageID(int64(i) + 1), Text: fmt.Sprint(i)})
	}
	if err := s.ImportMessages(t.Context(), many, 0); err != nil {
		t.Fatal(err)
	}
	remove := func(from, to int) {
		t.Helper()
		var ids []string
		for i := from; i < to; i++ {
			ids = append(ids, many[i].ID)
		}
		if err := s.RemoveMessages(t.Context(), ids...); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *etcdstore.Store, want ...int) {
		t.Helper()
		got, err := s.QueuedMessages(t.Context(), 3)
		var texts []int
		for _, m := range got {
			texts = append(texts, slices.IndexFunc(many, func(o petstore.Message) bool { return o.ID == m.ID && o.Text == m.Text }))
		}
		if err != nil || !slices.Equal(want, texts) {
			t.Errorf("the queue starts with %v (%v), want %v", texts, err, want)
		}
	}
	for _, after := range []int{0, 256, 1390, 1399} {
		got, err := s.MessagesAfter(t.Context(), many[after].ID, 5)
		want := many[after+1 : min(after+6, len(many))]
		if err != nil || !slices.EqualFunc(got, want, func(a, b petstore.Message) bool { return a.ID == b.ID && a.Text == b.Text }) {
			t.Errorf("after %s: %+v, %v", many[after].ID, got, err)
		}
	}
	if _, err := s.MessagesAfter(t.Context(), "msg_x", 5); petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("after an invalid id: %v", err)
	}
	remove(1, 1399)
	check(s, 0, 1399)
	if got, err := s.MessagesAfter(t.Context(), "msg_700", 5); err != nil || len(got) != 1 || got[0].ID != "msg_1400" {
		t.Errorf("after a removed message: %+v, %v", got, err)
	}
	remove(0, 1)
	check(s, 1399)
	remove(1399, 1400)
	check(s)
	if _, err := s.SubmitMessage(t.Context(), "last", petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.QueuedMessages(t.Context(), 3); err != nil || len(got) != 1 || got[0].ID != "msg_1401" {
		t.Errorf("the queue is %+v, %v", got, err)
	}
}
