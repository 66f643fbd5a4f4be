package storage_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if want := (storage.Exported{Written: smallPets, Last: smallPets}); err != nil || x != want {
		t.Fatalf("exporting returned %+v, %v", x, err)
	}
	if diff := cmp.Diff(strings.Join(small(t).lines(t), ""), all); diff != "" {
		t.Errorf("the export (-want +got):\n%s", diff)
	}
	messages, x, err := export(&storage.ExportOptions{Messages: true})
	if err != nil || x.Written != 20 || !strings.HasPrefix(messages, `{"id":"msg_1","message":"message 0","status":"queued","createdAt":"`) {
		t.Errorf("exporting the messages returned %+v, %v: %.200s", x, err, messages)
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
		if err != nil || x.Written < smallPets-30 || x.Lost != -1 && x.Written+x.Lost != smallPets {
			t.Errorf("without the page %d: %+v, %v", id, x, err)
		}
		for line := range strings.Lines(out) {
			if !strings.Contains(all, line) {
				t.Errorf("without the page %d: %s", id, line)
			}
		}
	}
	writeFile(t, path, append(make([]byte, 2*pageSize), whole[2*pageSize:]...))
	if out, x, err := export(&storage.ExportOptions{SkipDamaged: true}); err != nil || x.Lost != -1 || len(out) < len(all)*9/10 {
		t.Errorf("without both meta pages: %+v, %v", x, err)
	}
}
