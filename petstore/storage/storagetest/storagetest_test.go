package storagetest_test

import (
	"context"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// TestSamples fails if a field of a sample is zero, as a new one is until it has a value there.
func TestSamples(t *testing.T) {
	for _, sample := range []any{storagetest.SamplePet(), storagetest.SamplePet().NewPet, testserver.SampleMessage()} {
		for field, value := range reflect.ValueOf(sample).Fields() {
			if value.IsZero() {
				t.Errorf("the field %s of the sample %T is zero: give it a value, and each store and layer is tested with it", field.Name, sample)
			}
		}
	}
}

// faults maps each fault to the tests of Run that fail for it, in their order.
var faults = map[string]string{
	"missing pets are returned":     "Get",
	"names are repaired":            "Invalid",
	"statuses are ignored":          "Get Invalid Pages ListQuery PageBytes Idempotency Concurrent Cancelled",
	"limits above 100 are accepted": "ListQuery",
	"cursors are ignored":           "Get Pages ListQuery PageBytes Concurrent Cancelled",
	"pages are never cut":           "Get PageBytes",
	"pages end early":               "Get Pages ListQuery Idempotency Concurrent Cancelled",
	"a full page has a cursor":      "Pages Concurrent",
	"IDs are returned twice":        "Get Pages PageBytes Idempotency Concurrent Cancelled",
	"keys are ignored":              "Idempotency Capacity MessageIdempotency IdempotencyWindow",
	"values are not compared":       "Idempotency",
	"keys expire early":             "IdempotencyWindow",
	"pets disappear":                "Concurrent",
	"pets appear late":              "Concurrent",
	"cancelled creates succeed":     "Cancelled",
	"cancelled creates are lost":    "Cancelled",
	"cancelled removals succeed":    "Cancelled",
	"Close does nothing":            "Closed",
	"texts are trimmed":             "Queue MessageIdempotency",
	"messages are not removed":      "Cancelled Closed Queue Capacity MessageIdempotency",
	"long texts are cut":            "Invalid Queue",
	"the capacity is ignored":       "Capacity",
}

// TestBroken runs all tests on broken stores, in a child process, and compares which
// of them fail.
func TestBroken(t *testing.T) {
	const child = "STORAGETEST_BROKEN"
	if os.Getenv(child) != "" {
		for fault := range faults {
			t.Run(fault, func(t *testing.T) {
				t.Parallel()
				storagetest.Run(t, storagetest.Target{
					Volatile: true,
					Open:     func(t *testing.T, _ string, o storagetest.Options) petstore.Service { return broken(t, fault, o) },
				})
			})
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBroken$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), child+"=1")
	out, _ := cmd.CombinedOutput() // it fails
	failed := map[string]string{}
	for _, m := range regexp.MustCompile(`--- FAIL: TestBroken/([^/ ]+)/(\w+)`).FindAllStringSubmatch(string(out), -1) {
		fault := strings.ReplaceAll(m[1], "_", " ")
		failed[fault] = strings.TrimSpace(failed[fault] + " " + m[2])
	}
	if diff := cmp.Diff(faults, failed); diff != "" {
		t.Errorf("failed tests (-want +got):\n%s\n%.20000s", diff, out)
	}
}

// broken returns a store in memory with a fault, for the test t.
func broken(t *testing.T, fault string, o storagetest.Options) *testserver.Double {
	if fault == "the capacity is ignored" {
		o.QueueCapacity = 0
	}
	d := testserver.NewDouble(&memory.Options{QueueCapacity: o.QueueCapacity})
	if fault == "pets appear late" && !strings.HasSuffix(t.Name(), "/Concurrent") {
		return d // nobody lists while a create waits
	}
	list, create, get, submit, remove := d.DoListPets, d.DoCreatePet, d.DoGetPet, d.DoSubmitMessage, d.DoRemoveMessages
	var (
		gets   atomic.Int64
		used   sync.Map    // when a key was used first
		passed atomic.Bool // a list has passed the pet 1, which it did not show
		pass   = make(chan struct{})
	)
	d.DoGetPet = func(ctx context.Context, id int64) (petstore.Pet, error) {
		pet, err := get(ctx, id)
		switch {
		case fault == "missing pets are returned" && petstore.CodeOf(err) == petstore.CodeNotFound:
			return pet, nil
		case fault == "pets disappear" && gets.Add(1)%100 == 0:
			return petstore.Pet{}, petstore.ErrNotFound
		}
		return pet, err
	}
	d.DoCreatePet = func(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		switch fault {
		case "names are repaired":
			p.Name = strings.ToValidUTF8(p.Name, "?")
		case "long texts are cut":
			p.Name = p.Name[:min(len(p.Name), petstore.MaxTextBytes)]
		case "keys are ignored":
			key = petstore.IdempotencyKey{}
		case "keys expire early":
			if first, _ := used.LoadOrStore(key, time.Now()); time.Since(first.(time.Time)) > petstore.IdempotencyWindow*99/100 {
				key.Scope = time.Now().String()
			}
		case "cancelled creates succeed":
			ctx = context.WithoutCancel(ctx)
		case "cancelled creates are lost":
			if p == (petstore.NewPet{Status: petstore.StatusSold}) { // in Cancelled
				<-ctx.Done()
				return petstore.Pet{ID: 1000, NewPet: p}, nil
			}
		}
		pet, err := create(ctx, p, key)
		switch fault {
		case "IDs are returned twice":
			pet.ID = (pet.ID + 1) / 2
		case "values are not compared":
			if err == petstore.ErrIdempotencyMismatch {
				err = nil
			}
		case "pets appear late":
			if pet.ID == 1 {
				<-pass // the other callers list from the start
			}
		}
		return pet, err
	}
	d.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		q, _ = q.Normalize() // for the default limit
		limit, late := q.Limit, false
		switch fault {
		case "statuses are ignored":
			q.Status = ""
		case "limits above 100 are accepted":
			q.Limit = min(q.Limit, petstore.MaxLimit)
		case "pages end early":
			q.Limit = min(q.Limit, 5)
		case "cursors are ignored":
			q.After = ""
		case "pets appear late":
			late = !passed.Load() && q.After == "" && (q.Status == "" || q.Status == petstore.StatusAvailable)
			if late {
				q.After = petstore.CursorAfter(1)
			}
		}
		page, err := list(ctx, q)
		if late && page.Next != "" && passed.CompareAndSwap(false, true) {
			close(pass)
		}
		for fault == "pages are never cut" && page.Next != "" && len(page.Pets) < limit {
			q.Limit, q.After = limit-len(page.Pets), page.Next
			var next petstore.Page
			next, err = list(ctx, q)
			page = petstore.Page{Pets: append(page.Pets, next.Pets...), Next: next.Next}
		}
		// The number of pets in Cancelled is random.
		if fault == "a full page has a cursor" && len(page.Pets) == limit && !strings.HasSuffix(t.Name(), "/Cancelled") {
			page.Next = petstore.CursorAfter(page.Pets[limit-1].ID)
		}
		return page, err
	}
	d.DoSubmitMessage = func(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
		switch fault {
		case "texts are trimmed":
			text = strings.TrimSpace(text)
		case "long texts are cut":
			text = text[:min(len(text), petstore.MaxTextBytes)]
		case "keys are ignored":
			key = petstore.IdempotencyKey{}
		}
		return submit(ctx, text, key)
	}
	d.DoRemoveMessages = func(ctx context.Context, ids ...string) error {
		switch fault {
		case "messages are not removed":
			return nil
		case "cancelled removals succeed":
			_ = remove(context.WithoutCancel(ctx), ids...)
		}
		return remove(ctx, ids...)
	}
	if fault == "Close does nothing" {
		d.DoClose = func() error { return nil }
	}
	return d
}
