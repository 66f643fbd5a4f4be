package storagetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// service hides everything of a store but its Service.
type service struct{ petstore.Service }

func TestServiceOnly(t *testing.T) {
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Open:     func(*testing.T, string, storagetest.Options) petstore.Service { return service{memory.New(nil)} },
	})
}

// childTest is the environment variable with the test that a child process runs
// on its broken store.
const childTest = "STORAGETEST_BROKEN"

// TestBroken runs each test on a store that breaks what it tests, in a child
// process, which must fail.
func TestBroken(t *testing.T) {
	for name := range strings.FieldsSeq(`
		Get Invalid Pages ListQuery PageBytes Once OnceExpires Concurrent Seen Cancelled Closed Encoded
		Messages MessagesOnce Queue QueueCapacity`) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$/^"+name+"$", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), childTest+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestChild/"+name+" ") || strings.Contains(string(out), "panic:") {
				t.Errorf("the test must fail (%v):\n%s", err, out)
			}
		})
	}
}

func TestChild(t *testing.T) {
	fault := os.Getenv(childTest)
	if fault == "" {
		t.Skip("only for TestBroken")
	}
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Strict:   fault == "QueueCapacity", // the capacity is not passed on
		Open: func(_ *testing.T, _ string, o storagetest.Options) petstore.Service {
			return &broken{Store: memory.New(&memory.Options{Now: o.Now}), fault: fault}
		},
	})
}

// broken is a store in memory with the fault that the test of that name must find.
type broken struct {
	*memory.Store
	fault string
	gets  atomic.Int64
}

func (s *broken) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := s.Store.GetPet(ctx, id)
	switch {
	case s.fault == "Get" && petstore.CodeOf(err) == petstore.CodeNotFound:
		return pet, nil
	case s.fault == "Seen" && s.gets.Add(1)%100 == 0:
		return petstore.Pet{}, petstore.ErrNoPet
	}
	return pet, err
}

func (s *broken) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	switch s.fault {
	case "Invalid":
		p.Name = strings.ToValidUTF8(p.Name, "?")
	case "Once", "OnceExpires":
		once = petstore.Once{}
	case "Cancelled":
		ctx = context.WithoutCancel(ctx)
	}
	pet, err := s.Store.CreatePet(ctx, p, once)
	if s.fault == "Concurrent" {
		pet.ID = (pet.ID + 1) / 2
	}
	return pet, err
}

func (s *broken) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	switch s.fault {
	case "Pages":
		q.Status = ""
	case "ListQuery":
		q.Limit = min(q.Limit, petstore.MaxLimit)
	}
	page, err := s.Store.ListPets(ctx, q)
	for s.fault == "PageBytes" && err == nil && page.Next != "" && len(page.Pets) < q.Limit {
		var next petstore.Page
		next, err = s.Store.ListPets(ctx, petstore.ListQuery{Limit: q.Limit - len(page.Pets), Status: q.Status, After: page.Next})
		page = petstore.Page{Pets: append(page.Pets, next.Pets...), Next: next.Next}
	}
	return page, err
}

func (s *broken) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	dst, err := s.Store.AppendPet(ctx, dst, id)
	if s.fault == "Encoded" && err == nil {
		dst = append(dst, ' ')
	}
	return dst, err
}

func (s *broken) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	switch s.fault {
	case "Messages":
		text = strings.TrimSpace(text)
	case "MessagesOnce":
		once = petstore.Once{}
	}
	return s.Store.SubmitMessage(ctx, text, once)
}

func (s *broken) RemoveMessages(ctx context.Context, ids ...string) error {
	if s.fault == "Queue" {
		return nil
	}
	return s.Store.RemoveMessages(ctx, ids...)
}

func (s *broken) Close() error {
	if s.fault == "Closed" {
		return nil
	}
	return s.Store.Close()
}
