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

// broken are stores with a fault, by the test that must find it.
var broken = map[string]func(*memory.Store) petstore.Service{
	"Get":           func(s *memory.Store) petstore.Service { return getsAnything{s} },
	"Exact":         func(s *memory.Store) petstore.Service { return trims{s} },
	"Invalid":       func(s *memory.Store) petstore.Service { return mendsNames{s} },
	"Pages":         func(s *memory.Store) petstore.Service { return ignoresStatus{s} },
	"ListQuery":     func(s *memory.Store) petstore.Service { return lowersLimits{s} },
	"PageBytes":     func(s *memory.Store) petstore.Service { return joinsPages{s} },
	"Once":          func(s *memory.Store) petstore.Service { return ignoresOnce{s} },
	"OnceExpires":   func(s *memory.Store) petstore.Service { return ignoresOnce{s} },
	"MessagesOnce":  func(s *memory.Store) petstore.Service { return ignoresOnce{s} },
	"Concurrent":    func(s *memory.Store) petstore.Service { return repeatsIDs{s} },
	"Seen":          func(s *memory.Store) petstore.Service { return &hides{Store: s} },
	"Cancelled":     func(s *memory.Store) petstore.Service { return ignoresContext{s} },
	"Closed":        func(s *memory.Store) petstore.Service { return staysOpen{s} },
	"Encoded":       func(s *memory.Store) petstore.Service { return addsSpace{s} },
	"Messages":      func(s *memory.Store) petstore.Service { return trims{s} },
	"Queue":         func(s *memory.Store) petstore.Service { return removesNothing{s} },
	"QueueCapacity": func(s *memory.Store) petstore.Service { return s }, // opened with the default capacity
}

// childTest is the environment variable with the test that a child process runs
// on its broken store.
const childTest = "STORAGETEST_BROKEN"

// TestBroken runs each test on a store that breaks what it tests, in a child
// process, which must fail.
func TestBroken(t *testing.T) {
	for name := range broken {
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
	open, ok := broken[os.Getenv(childTest)]
	if !ok {
		t.Skip("only for TestBroken")
	}
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Strict:   os.Getenv(childTest) == "QueueCapacity",
		Open: func(_ *testing.T, _ string, o storagetest.Options) petstore.Service {
			return open(memory.New(&memory.Options{Now: o.Now}))
		},
	})
}

type getsAnything struct{ *memory.Store }

func (s getsAnything) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := s.Store.GetPet(ctx, id)
	if petstore.CodeOf(err) == petstore.CodeNotFound {
		err = nil
	}
	return pet, err
}

type trims struct{ *memory.Store }

func (s trims) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	p.Name = strings.TrimSpace(p.Name)
	return s.Store.CreatePet(ctx, p, once)
}

func (s trims) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	return s.Store.SubmitMessage(ctx, strings.TrimSpace(text), once)
}

type mendsNames struct{ *memory.Store }

func (s mendsNames) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	p.Name = strings.ToValidUTF8(p.Name, "?")
	return s.Store.CreatePet(ctx, p, once)
}

type ignoresStatus struct{ *memory.Store }

func (s ignoresStatus) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q.Status = ""
	return s.Store.ListPets(ctx, q)
}

type lowersLimits struct{ *memory.Store }

func (s lowersLimits) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q.Limit = min(q.Limit, petstore.MaxLimit)
	return s.Store.ListPets(ctx, q)
}

type joinsPages struct{ *memory.Store }

func (s joinsPages) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, err := s.Store.ListPets(ctx, q)
	for err == nil && page.Next != "" && len(page.Pets) < q.Limit {
		var next petstore.Page
		next, err = s.Store.ListPets(ctx, petstore.ListQuery{Limit: q.Limit - len(page.Pets), Status: q.Status, After: page.Next})
		page = petstore.Page{Pets: append(page.Pets, next.Pets...), Next: next.Next}
	}
	return page, err
}

type ignoresOnce struct{ *memory.Store }

func (s ignoresOnce) CreatePet(ctx context.Context, p petstore.NewPet, _ petstore.Once) (petstore.Pet, error) {
	return s.Store.CreatePet(ctx, p, petstore.Once{})
}

func (s ignoresOnce) SubmitMessage(ctx context.Context, text string, _ petstore.Once) (petstore.Message, error) {
	return s.Store.SubmitMessage(ctx, text, petstore.Once{})
}

type repeatsIDs struct{ *memory.Store }

func (s repeatsIDs) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	pet, err := s.Store.CreatePet(ctx, p, once)
	pet.ID = (pet.ID + 1) / 2
	return pet, err
}

type hides struct {
	*memory.Store
	gets atomic.Int64
}

func (s *hides) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if s.gets.Add(1)%100 == 0 {
		return petstore.Pet{}, petstore.ErrNoPet
	}
	return s.Store.GetPet(ctx, id)
}

type ignoresContext struct{ *memory.Store }

func (s ignoresContext) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	return s.Store.CreatePet(context.WithoutCancel(ctx), p, once)
}

type staysOpen struct{ *memory.Store }

func (staysOpen) Close() error { return nil }

type addsSpace struct{ *memory.Store }

func (s addsSpace) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	dst, err := s.Store.AppendPet(ctx, dst, id)
	if err == nil {
		dst = append(dst, ' ')
	}
	return dst, err
}

type removesNothing struct{ *memory.Store }

func (removesNothing) RemoveMessages(context.Context, ...string) error { return nil }
