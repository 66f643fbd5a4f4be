package storagetest_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
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

// childFault is the environment variable with the fault of a child process's
// store.
const childFault = "STORAGETEST_BROKEN"

// TestBroken runs all tests on broken stores, each in a child process. The tests
// of what is broken must fail, with a few lines each, and the others must pass.
func TestBroken(t *testing.T) {
	for fault, want := range map[string]string{ // the tests that fail, in their order
		"missing pets are returned":       "Get Encoded Random",
		"names are repaired":              "Invalid Random",
		"statuses are ignored":            "Pages ListQuery Encoded Random",
		"limits above 100 are accepted":   "ListQuery Random",
		"pages are never cut":             "PageBytes",
		"keys of pets are ignored":        "Once OnceConcurrent OnceExpires Random",
		"IDs are returned twice":          "Get Pages ListQuery Once Concurrent Cancelled Closed Random",
		"pets disappear":                  "Concurrent Seen",
		"cancelled creates succeed":       "Cancelled",
		"Close does nothing":              "Closed",
		"JSON has white space":            "Encoded Random",
		"texts are trimmed":               "Messages MessagesOnce Queue",
		"keys of messages are ignored":    "MessagesOnce Random",
		"messages are not removed":        "Cancelled Closed MessagesOnce Queue Random",
		"the queue's capacity is ignored": "QueueCapacity Random",

		"everything fails":              "Get Invalid Pages ListQuery PageBytes Once OnceConcurrent OnceExpires Concurrent Seen Cancelled Closed Encoded Messages MessagesOnce Queue Random",
		"GetPet returns another pet":    "Get Encoded Random",
		"CreatePet returns ID 0":        "Get Pages ListQuery Once Concurrent Cancelled Closed Random",
		"CreatePet returns the same ID": "Get Pages ListQuery Once Concurrent Cancelled Closed Random",
		"cursors are ignored":           "Get Pages ListQuery PageBytes Concurrent Seen Cancelled Random",
		"lists are empty":               "Invalid Pages ListQuery PageBytes Once OnceConcurrent Concurrent Seen Cancelled Encoded MessagesOnce Random",
		"lists have the same cursor":    "Get Invalid Pages PageBytes Once OnceConcurrent Concurrent Seen Cancelled Encoded MessagesOnce Random",
		"lists never end":               "Get Invalid Pages PageBytes Once OnceConcurrent Concurrent Seen Cancelled Encoded MessagesOnce Random",
		"lists repeat pets":             "Get Invalid Pages PageBytes Once OnceConcurrent Concurrent Seen Cancelled Encoded MessagesOnce Random",
		"the queue is empty":            "Cancelled MessagesOnce Queue Random",
		"messages are queued twice":     "Cancelled MessagesOnce Queue Random",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), childFault+"="+fault)
			out, err := cmd.CombinedOutput()
			var failed []string
			for _, m := range regexp.MustCompile(`(?m)^    --- FAIL: TestChild/(\w+)`).FindAllSubmatch(out, -1) {
				failed = append(failed, string(m[1]))
			}
			if got := strings.Join(failed, " "); got != want || bytes.Count(out, []byte("\n")) > 60 || bytes.Contains(out, []byte("panic:")) {
				t.Errorf("%v; failed: %s; want: %s; in at most 60 lines, without a panic:\n%s", err, got, want, out)
			}
		})
	}
}

func TestChild(t *testing.T) {
	fault := os.Getenv(childFault)
	if fault == "" {
		t.Skip("only for TestBroken")
	}
	target := storagetest.Target{
		Volatile: true,
		Strict:   fault == "the queue's capacity is ignored",
		Open: func(_ *testing.T, _ string, o storagetest.Options) petstore.Service {
			if fault == "the queue's capacity is ignored" {
				o.QueueCapacity = 0
			}
			s := memory.New(&memory.Options{Now: o.Now, QueueCapacity: o.QueueCapacity})
			if fault == "everything fails" {
				s.Close()
			}
			return &broken{Store: s, fault: fault}
		},
	}
	storagetest.Run(t, target)
	t.Run("Random", func(t *testing.T) { storagetest.RunRandom(t, target, 100, 1) })
}

// broken is a store in memory with a fault.
type broken struct {
	*memory.Store
	fault string
	gets  atomic.Int64
}

func (s *broken) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := s.Store.GetPet(ctx, id)
	switch {
	case s.fault == "missing pets are returned" && petstore.CodeOf(err) == petstore.CodeNotFound:
		return pet, nil
	case s.fault == "pets disappear" && s.gets.Add(1)%100 == 0:
		return petstore.Pet{}, petstore.ErrNoPet
	case s.fault == "GetPet returns another pet" && id > 1:
		return s.Store.GetPet(ctx, id-1)
	}
	return pet, err
}

func (s *broken) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	switch s.fault {
	case "names are repaired":
		p.Name = strings.ToValidUTF8(p.Name, "?")
	case "keys of pets are ignored":
		once = petstore.Once{}
	case "cancelled creates succeed":
		ctx = context.WithoutCancel(ctx)
	}
	pet, err := s.Store.CreatePet(ctx, p, once)
	switch s.fault {
	case "IDs are returned twice":
		pet.ID = (pet.ID + 1) / 2
	case "CreatePet returns ID 0":
		pet.ID = 0
	case "CreatePet returns the same ID":
		pet.ID = 1
	}
	return pet, err
}

func (s *broken) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	switch s.fault {
	case "statuses are ignored":
		q.Status = ""
	case "limits above 100 are accepted":
		q.Limit = min(q.Limit, petstore.MaxLimit)
	case "cursors are ignored":
		q.After = ""
	}
	page, err := s.Store.ListPets(ctx, q)
	switch {
	case err != nil:
	case s.fault == "pages are never cut":
		for err == nil && page.Next != "" && len(page.Pets) < q.Limit {
			var next petstore.Page
			next, err = s.Store.ListPets(ctx, petstore.ListQuery{Limit: q.Limit - len(page.Pets), Status: q.Status, After: page.Next})
			page = petstore.Page{Pets: append(page.Pets, next.Pets...), Next: next.Next}
		}
	case s.fault == "lists are empty":
		page = petstore.Page{}
	case s.fault == "lists have the same cursor":
		page.Next = petstore.CursorAfter(1)
	case s.fault == "lists never end":
		after, _ := q.After.ID()
		id := after + 1<<40
		page = petstore.Page{Pets: []petstore.Pet{{ID: id}}, Next: petstore.CursorAfter(id)}
	case s.fault == "lists repeat pets":
		page.Pets = append(page.Pets, page.Pets...)
	}
	return page, err
}

func (s *broken) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	dst, err := s.Store.AppendPet(ctx, dst, id)
	if s.fault == "JSON has white space" && err == nil {
		dst = append(dst, ' ')
	}
	return dst, err
}

func (s *broken) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	switch s.fault {
	case "texts are trimmed":
		text = strings.TrimSpace(text)
	case "keys of messages are ignored":
		once = petstore.Once{}
	}
	return s.Store.SubmitMessage(ctx, text, once)
}

func (s *broken) QueuedMessages(ctx context.Context, limit int) ([]petstore.Message, error) {
	messages, err := s.Store.QueuedMessages(ctx, limit)
	switch s.fault {
	case "the queue is empty":
		messages = nil
	case "messages are queued twice":
		messages = append(messages, messages...)
	}
	return messages, err
}

func (s *broken) RemoveMessages(ctx context.Context, ids ...string) error {
	if s.fault == "messages are not removed" {
		return nil
	}
	return s.Store.RemoveMessages(ctx, ids...)
}

func (s *broken) Close() error {
	if s.fault == "Close does nothing" {
		return nil
	}
	return s.Store.Close()
}
