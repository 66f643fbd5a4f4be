package storage_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

var damages = flag.Int("damages", 260, "how many damaged copies of a file to open")

// contents is what a store returns to every kind of call.
type contents struct {
	Pets     []petstore.Pet
	ByStatus map[petstore.Status][]petstore.Pet
	Queue    []petstore.Message
	Repeated []petstore.Pet
}

const (
	damagePets = 300
	damageKeys = 40
)

// writeContents fills a new store with a bit of everything, over several
// levels of pages, and closes it. It returns the file as it was on the way.
func writeContents(t testing.TB, path string) (old []byte) {
	t.Helper()
	s := open(t, path)
	for i := range damagePets {
		if i == damageKeys*3/4 {
			old = used(mustRead(t, path))
		}
		p := petstore.NewPet{Name: fmt.Sprint("pet ", i), Status: append(petstore.Statuses(), "")[i%4]}
		if _, err := s.CreatePet(t.Context(), p, onceOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		if _, err := s.SubmitMessage(t.Context(), fmt.Sprint("message ", i), petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return old
}

func onceOf(i int) petstore.Once {
	if i >= damageKeys {
		return petstore.Once{}
	}
	return petstore.Once{Key: fmt.Sprint(i)}
}

// readContents reads everything and stops at the first error.
func readContents(ctx context.Context, s *storage.Store) (c contents, err error) {
	list := func(status petstore.Status) (pets []petstore.Pet, err error) {
		q := petstore.ListQuery{Limit: 100, Status: status}
		for {
			page, err := s.ListPets(ctx, q)
			if err != nil {
				return nil, err
			}
			pets = append(pets, page.Pets...)
			if q.After = page.Next; q.After == "" {
				return pets, nil
			}
		}
	}
	if c.Pets, err = list(""); err != nil {
		return c, err
	}
	c.ByStatus = map[petstore.Status][]petstore.Pet{}
	for _, status := range petstore.Statuses() {
		if c.ByStatus[status], err = list(status); err != nil {
			return c, err
		}
	}
	for _, want := range c.Pets {
		if got, err := s.GetPet(ctx, want.ID); err != nil {
			return c, err
		} else if got != want {
			return c, fmt.Errorf("got %v, listed %v", got, want)
		}
	}
	if c.Queue, err = s.QueuedMessages(ctx, 1000); err != nil {
		return c, err
	}
	for i := range damageKeys {
		pet, err := s.CreatePet(ctx, c.Pets[i].NewPet, onceOf(i))
		if err != nil {
			return c, err
		}
		c.Repeated = append(c.Repeated, pet)
	}
	return c, nil
}

// used cuts off what the file has not used yet, so that damage hits something.
func used(b []byte) []byte {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return b[:(n+pageSize-1)/pageSize*pageSize]
}

// TestDamage opens damaged copies of a file. Each call must return the right
// result or an error.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.db")
	old := writeContents(t, path)
	whole := mustRead(t, path)
	inUse := len(used(whole))
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := readContents(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()

	r := rand.New(rand.NewPCG(*seed, 0))
	count := map[string]int{}
	for i := range *damages {
		kind := damageKinds[i%len(damageKinds)]
		b := kind.spoil(slices.Clone(whole[:inUse]), old, r)
		what := fmt.Sprintf("%s, %d of seed %d", kind.name, i, *seed)
		path := filepath.Join(dir, "damaged.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if len(b) == inUse { // not cut short
			if err := os.Truncate(path, int64(len(whole))); err != nil {
				t.Fatal(err)
			}
		}
		found := checkDamaged(t, what, path, want)
		got := judge(t, what, path, want, kind.name == stalePage && found)
		if got != "all is right" && !found {
			t.Errorf("%s: %s, but the check finds nothing", what, got)
		}
		count[got]++
	}
	t.Logf("%d damaged copies of a file of %d pages: %v", *damages, inUse/pageSize, count)
	if count["refused on opening"] == 0 || count["an error on reading"] == 0 {
		t.Error("the damage does not hit")
	}
}

// checkDamaged checks a damaged file and exports what is left of it, of which
// every line must be right. It reports whether damage was found.
func checkDamaged(t *testing.T, what, path string, want contents) (found bool) {
	t.Helper()
	err := storage.Check(path, func(err error) {
		found = true
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrForeign) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the check reports %q", what, err)
		}
	})
	if err != nil {
		t.Errorf("%s: the check: %v", what, err)
	}
	lines := map[string]bool{}
	for _, pet := range want.Pets {
		b, err := pet.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		lines[string(b)] = true
	}
	var out strings.Builder
	_, err = storage.Export(path, &out, &storage.ExportOptions{SkipDamaged: true})
	if err != nil && len(mustRead(t, path)) > 0 {
		t.Errorf("%s: the export: %v", what, err)
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !lines[line] {
			t.Errorf("%s: the export has %.200s", what, line)
		}
		delete(lines, line)
	}
	return found
}

// judge opens and reads a damaged file, and returns what happened. If excused,
// the store need not see that records are missing.
func judge(t *testing.T, what, path string, want contents, excused bool) string {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrForeign) && len(mustRead(t, path)) > 0 {
			t.Errorf("%s: on opening: %v", what, err)
		}
		return "refused on opening"
	}
	defer s.Close()
	got, err := readContents(t.Context(), s)
	if err != nil {
		if petstore.CodeOf(err) != petstore.CodeInternal && petstore.CodeOf(err) != petstore.CodeUnavailable {
			t.Errorf("%s: on reading: %v", what, err)
		}
		return "an error on reading"
	}
	if diff := cmp.Diff(want, got); diff != "" && excused {
		return "found by the check alone"
	} else if diff != "" {
		t.Errorf("%s: a wrong result (-want +got):\n%.2000s", what, diff)
	}
	return "all is right"
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
