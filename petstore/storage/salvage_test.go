package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestExport exports a sound file, and damaged ones with and without SkipDamaged.
func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := small(t).file
	writeFile(t, path, whole)
	export := func(o *storage.ExportOptions) (string, storage.Exported, error) {
		var b strings.Builder
		x, err := storage.Export(path, &b, o)
		return b.String(), x, err
	}
	all, x, err := export(nil)
	want := storage.Exported{Pets: storage.Counts{Written: smallPets, Last: smallPets}, Messages: storage.Counts{Written: smallMessages, Last: smallMessages}}
	if err != nil || x != want {
		t.Fatalf("exporting returned %+v, %v", x, err)
	}
	pets, messages := split(all)
	if diff := cmp.Diff(strings.Join(small(t).lines(t), ""), pets+messages); diff != "" {
		t.Errorf("the export (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(messages, `{"id":"msg_1","message":"message 0","status":"queued","createdAt":"`) {
		t.Errorf("the messages: %.200s", messages)
	}
	if end := fmt.Sprintf(`{"end":{"pets":%d,"messages":%d,"lastMessage":%[2]d}}`+"\n", smallPets, smallMessages); all != pets+messages+end {
		t.Errorf("the export ends with %s, want %s", all[len(pets+messages):], end)
	}

	// Every page of a tree in turn: only the pets without a status in one leaf
	// may be lost, and no pet is invented.
	for _, id := range append(pagesOf(whole, leafPage), pagesOf(whole, branchPage)...) {
		b := bytes.Clone(whole)
		clear(pageOf(b, id))
		writeFile(t, path, b)
		if out, _, err := export(nil); !errors.Is(err, storage.ErrDamaged) && (err != nil || out != all) {
			t.Errorf("without the page %d: exported in part, with %v", id, err)
		}
		out, x, err := export(&storage.ExportOptions{SkipDamaged: true})
		if p := x.Pets; err != nil || p.Written < smallPets-30 || p.Lost != -1 && p.Written+p.Lost != smallPets {
			t.Errorf("without the page %d: %+v, %v", id, x, err)
		}
		if x.Pets.Lost == 0 && x.Messages.Lost == 0 && out != all {
			t.Errorf("without the page %d: nothing was lost, but the export differs", id)
		}
		pets, messages := split(out)
		rest := all // each line follows the one before it
		for line := range strings.Lines(pets + messages) {
			var found bool
			if _, rest, found = strings.Cut(rest, line); !found {
				t.Errorf("without the page %d: %s", id, line)
			}
		}
	}
	writeFile(t, path, append(make([]byte, 2*pageSize), whole[2*pageSize:]...))
	if out, x, err := export(&storage.ExportOptions{SkipDamaged: true}); err != nil || x.Pets.Lost != -1 || len(out) < len(all)*9/10 {
		t.Errorf("without both meta pages: %+v, %v", x, err)
	}
}

// split returns the lines of the pets and the lines of the messages in an export.
func split(export string) (pets, messages string) {
	for line := range strings.Lines(export) {
		switch {
		case strings.HasPrefix(line, `{"id":"msg_`):
			messages += line
		case !strings.HasPrefix(line, `{"end":`):
			pets += line
		}
	}
	return pets, messages
}

// exportDamaged writes a damaged file and exports what is left of it. It returns
// the pets or the messages, and what was reported.
func exportDamaged(t *testing.T, path string, b []byte, messages bool) (out string, x storage.Counts, reports string) {
	t.Helper()
	writeFile(t, path, b)
	var lines, damage strings.Builder
	both, err := storage.Export(path, &lines, &storage.ExportOptions{
		SkipDamaged: true,
		Report:      func(err error) { damage.WriteString(err.Error() + "\n") },
	})
	if err != nil {
		t.Error(err)
	}
	pets, queued := split(lines.String())
	if messages {
		return queued, both.Messages, damage.String()
	}
	return pets, both.Pets, damage.String()
}

// TestExportFreelist damages the freelist alone. The store refuses the file, and
// the export writes the same as without the damage.
func TestExportFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := small(t).file
	list, leaf := pagesOf(whole, freelistPage)[0], pagesOf(whole, leafPage)[0]
	for name, damage := range map[string]func(list []byte){
		"flags":             func(list []byte) { list[8] ^= 0x20 },
		"count":             func(list []byte) { list[10] -= 2 },
		"pages after it":    func(list []byte) { list[12] ^= 3 },
		"a page in use":     func(list []byte) { list[16] = byte(leaf) },
		"a page not on it":  func(list []byte) { list[10]-- },
		"a page beyond all": func(list []byte) { list[20] = 1 },
	} {
		b := bytes.Clone(whole)
		damage(pageOf(b, list))
		for _, messages := range []bool{false, true} {
			want, _, _ := exportDamaged(t, path, whole, messages)
			out, x, reports := exportDamaged(t, path, b, messages)
			if diff := cmp.Diff(want, out); diff != "" || x.Lost != 0 || !strings.Contains(reports, "freelist") {
				t.Errorf("%s: %+v; reported:\n%s(-want +got):\n%s", name, x, reports, diff)
			}
		}
	}
}

// TestExportBit flips a bit in the header or an element of the leaf that holds
// the queue. At most one message is lost.
func TestExportBit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := small(t).file
	for _, page := range pagesOf(whole, leafPage) {
		if !bytes.Contains(pageOf(whole, page), []byte("message 0")) {
			continue
		}
		for _, at := range []int{8, 11, 12, 14, 16, 16 + 4, 16 + 8, 16 + 12, 16 + 16*19 + 8} {
			b := bytes.Clone(whole)
			pageOf(b, page)[at] ^= 1
			if _, x, reports := exportDamaged(t, path, b, true); x.Written < smallMessages-1 || reports == "" {
				t.Errorf("with a bit of byte %d flipped: %+v; reported:\n%s", at, x, reports)
			}
		}
	}
}

// TestExportTooHigh exports a message with a number that was never issued.
func TestExportTooHigh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	want, _, _ := exportDamaged(t, path, small(t).file, true)
	edit(t, path, func(tx *bbolt.Tx) error { return storage.AddMessage(tx, 1<<32) })
	if _, err := storage.Export(path, io.Discard, nil); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("the export returned %v", err)
	}
	if out, x, reports := exportDamaged(t, path, process.ReadFile(t, path), true); out != want || !strings.Contains(reports, "21 messages") {
		t.Errorf("%+v: %s\n%s", x, out, reports)
	}
}

// TestExportVersions exports from a file without meta pages, in which a commit
// was lost before it was acknowledged, and its first ID was issued again. That ID
// is left out.
func TestExportVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	load := func(n int, name string) []byte {
		t.Helper()
		pet := petstore.NewPet{Name: name, Status: petstore.StatusSold}
		if _, err := s.Load(t.Context(), slices.Values(slices.Repeat([]petstore.NewPet{pet}, n))); err != nil {
			t.Fatal(err)
		}
		return process.ReadFile(t, path)
	}
	before := load(5, "first")
	never := load(200, "never acknowledged")
	s.Close()
	copy(never[:2*pageSize], before)
	writeFile(t, path, never)
	s = open(t, path)
	b := load(1, "acknowledged")
	s.Close()
	clear(b[:2*pageSize])
	out, x, reports := exportDamaged(t, path, b, false)
	if strings.Contains(out, `"id":6,`) || !strings.Contains(reports, "versions of the pet 6") {
		t.Errorf("%+v:\n%s%s", x, out, reports)
	}
}

// TestExportReference makes each reference of a branch lead to each free page.
// What was there is found all the same, and nothing that was removed.
func TestExportReference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	createPets(t, s, 100, 1)
	for i := range 400 {
		m, err := s.SubmitMessage(t.Context(), fmt.Sprint("message ", i, strings.Repeat("x", 40)), petstore.Once{})
		if err == nil && i < 150 {
			err = s.RemoveMessages(t.Context(), m.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d := &stored{}
	d.close(t, s)
	want, _, _ := exportDamaged(t, path, d.file, true)
	for _, branch := range pagesOf(d.file, branchPage) {
		for i := range int(binary.NativeEndian.Uint16(pageOf(d.file, branch)[10:])) {
			for _, free := range pagesOf(d.file, 0) {
				b := bytes.Clone(d.file)
				binary.NativeEndian.PutUint64(pageOf(b, branch)[16+16*i+8:], uint64(free))
				out, x, reports := exportDamaged(t, path, b, true)
				if diff := cmp.Diff(want, out); diff != "" || reports == "" {
					t.Errorf("the reference %d of the branch %d leads to %d: %+v; reported:\n%s(-want +got):\n%s", i, branch, free, x, reports, diff)
				}
			}
		}
	}
}
