package storage_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/storage"
)

var damages = flag.Int("damages", 260, "how many damaged copies of a file to open")

const pageSize = 4096

func pageOf(b []byte, n int) []byte { return b[n*pageSize : (n+1)*pageSize] }

// The kinds of bbolt's pages, as their headers have them; 0 stands for what is
// on the freelist, with any header.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// newerMeta returns the number of the meta page of the last transaction.
func newerMeta(file []byte) int {
	txid := func(page int) uint64 { return binary.NativeEndian.Uint64(pageOf(file, page)[16+48:]) }
	if txid(1) > txid(0) {
		return 1
	}
	return 0
}

// pagesOf returns the pages of a kind.
func pagesOf(b []byte, kind uint16) (ids []int) {
	free := map[int]bool{}
	list := pageOf(b, int(binary.NativeEndian.Uint64(pageOf(b, newerMeta(b))[16+32:])))
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		free[int(binary.NativeEndian.Uint64(list[16+8*i:]))] = true
	}
	for id := 2; id < len(b)/pageSize; id++ {
		if kind == 0 && free[id] || kind != 0 && !free[id] && binary.NativeEndian.Uint16(pageOf(b, id)[8:]) == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

// stalePage is what a disk does that reports a write which it has not made.
const stalePage = "put a page back to an earlier time"

func flipIn(kind uint16, length int) func(b, old []byte, r *rand.Rand) []byte {
	return func(b, _ []byte, r *rand.Rand) []byte {
		ids := pagesOf(b, kind)
		pageOf(b, ids[r.IntN(len(ids))])[r.IntN(length)] ^= 1 << r.IntN(8)
		return b
	}
}

// damageKinds are ways to spoil a file. old is the same file at an earlier time.
var damageKinds = []struct {
	name  string
	spoil func(b, old []byte, r *rand.Rand) []byte
}{
	{"flip a bit", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a meta page", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(2)*pageSize+r.IntN(80)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a page header", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(len(b)/pageSize)*pageSize+r.IntN(16)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a branch", flipIn(branchPage, 200)},
	{"flip a bit of a leaf", flipIn(leafPage, pageSize)},
	{"flip a bit of the freelist", flipIn(freelistPage, 100)},
	{"flip a bit of a free page", flipIn(0, pageSize)},
	{"zero a page", func(b, _ []byte, r *rand.Rand) []byte {
		clear(pageOf(b, r.IntN(len(b)/pageSize)))
		return b
	}},
	{"swap two pages", func(b, _ []byte, r *rand.Rand) []byte {
		p := pageOf(b, r.IntN(len(b)/pageSize))
		q := pageOf(b, r.IntN(len(b)/pageSize))
		for i := range p {
			p[i], q[i] = q[i], p[i]
		}
		return b
	}},
	{"copy a page over another", func(b, _ []byte, r *rand.Rand) []byte {
		copy(pageOf(b, r.IntN(len(b)/pageSize)), pageOf(b, r.IntN(len(b)/pageSize)))
		return b
	}},
	{stalePage, func(b, old []byte, r *rand.Rand) []byte {
		n := 2 + r.IntN(len(old)/pageSize-2)
		copy(pageOf(b, n), pageOf(old, n))
		return b
	}},
	{"cut at a page", func(b, _ []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b)/pageSize)*pageSize] }},
	{"cut anywhere", func(b, _ []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b))] }},
}

// TestDamage opens damaged copies of a file. Each call must return the right
// result or an error.
func TestDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "damaged.db")
	want := small(t)
	inUse := used(want.file)
	r := rand.New(rand.NewPCG(*seed, 0))
	count := map[string]int{}
	for i := range *damages {
		kind := damageKinds[i%len(damageKinds)]
		what := fmt.Sprintf("%s, %d of seed %d", kind.name, i, *seed)
		b := kind.spoil(slices.Clone(inUse), want.old, r)
		if len(b) == len(inUse) { // not cut short
			b = append(b, want.file[len(inUse):]...)
		}
		writeFile(t, path, b)
		found := checkDamaged(t, what, path, want)
		got := judge(t, what, path, want, kind.name == stalePage && found)
		if got != "all is right" && !found {
			t.Errorf("%s: %s, but the check finds nothing", what, got)
		}
		count[got]++
	}
	t.Logf("%d damaged copies of a file of %d pages: %v", *damages, len(inUse)/pageSize, count)
	if count["refused on opening"] == 0 || count["an error on reading"] == 0 {
		t.Error("the damage does not hit")
	}
}

// checkDamaged checks a damaged file and exports what is left of it, of which
// every line must be right. It reports whether damage was found.
func checkDamaged(t *testing.T, what, path string, want *stored) (found bool) {
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
	lines := want.lines(t)
	var out strings.Builder
	if _, err = storage.Export(path, &out, &storage.ExportOptions{SkipDamaged: true}); err != nil {
		t.Errorf("%s: the export: %v", what, err)
	}
	pets, messages := split(out.String())
	for line := range strings.Lines(pets + messages) {
		i := slices.Index(lines, line)
		if i < 0 {
			t.Errorf("%s: the export has %.200s", what, line)
			continue
		}
		lines[i] = ""
	}
	return found
}

// lines returns the lines of the export, without its end.
func (d *stored) lines(t *testing.T) (lines []string) {
	t.Helper()
	for _, pet := range d.pets {
		b, err := pet.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b)+"\n")
	}
	for _, m := range d.queue {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b)+"\n")
	}
	return lines
}

// judge opens and reads a damaged file, and returns what happened. If excused,
// the store need not see that records are missing.
func judge(t *testing.T, what, path string, want *stored, excused bool) string {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrForeign) {
			t.Errorf("%s: on opening: %v", what, err)
		}
		return "refused on opening"
	}
	defer s.Close()
	pets, others, wrong := want.read(t.Context(), s)
	switch {
	case wrong != nil && excused:
		return "found by the check alone"
	case wrong != nil:
		t.Errorf("%s: a wrong result: %v", what, wrong)
	case pets+others > 0:
		return "an error on reading"
	}
	return "all is right"
}
