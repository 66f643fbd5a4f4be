package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// exported returns the export of the store at path, which must be sound.
func exported(t testing.TB, path string) string {
	t.Helper()
	mustCheck(t, path)
	var b strings.Builder
	if _, err := storage.Export(path, &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// exportOf returns the lines of an export, without those that skip says.
func (d *stored) exportOf(t testing.TB, skip func(petstore.Pet) bool, skipMessage string, last int64) string {
	t.Helper()
	var b []byte
	var pets, messages int
	for _, pet := range d.pets {
		if skip == nil || !skip(pet) {
			var err error
			if b, err = pet.AppendJSON(b); err != nil {
				t.Fatal(err)
			}
			b = append(b, '\n')
			pets++
		}
	}
	for _, m := range d.queue {
		if m.ID != skipMessage {
			line, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, line...), '\n')
			messages++
		}
	}
	return fmt.Sprintf(`%s{"end":{"pets":%d,"messages":%d,"lastMessage":%d}}`+"\n", b, pets, messages, last)
}

// TestExport exports a sound file and damaged ones. What is left can be imported again.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	d := small(t)
	// Only the table of all pets has these two in a row.
	inBlock := `"name":"pet 100","categoryId":100,"status":"available"},{"id":102,`
	// The pets without a status that are in one block with those. The last block of
	// all is another one.
	lost := func(p petstore.Pet) bool { return p.Status == "" && p.ID > 87 && p.ID < 116 }
	// The last pet has no status, nor have others in its block.
	lastBlock := `"name":"pet 299","categoryId":299`
	lostLast := func(p petstore.Pet) bool { return p.Status == "" && p.ID > 280 }
	freelist := bytes.Clone(d.file)
	pageOf(freelist, pagesOf(freelist, freelistPage)[0])[8] ^= 0x20
	olderMeta := bytes.Clone(d.file)
	olderMeta[(1-newerMeta(d.file))*pageSize+60] ^= 1
	for _, c := range []struct {
		name string
		file []byte
		edit func(*bbolt.Tx) error
		says string
		want string
	}{
		{name: "sound", file: d.file, want: d.exportOf(t, nil, "", smallMessages)},
		{name: "a block", file: spoil(t, d.file, inBlock), says: "fails its checksum", want: d.exportOf(t, lost, "", smallMessages)},
		{name: "a message", file: spoil(t, d.file, "message 7"), says: "the message 8 fails its checksum", want: d.exportOf(t, nil, "msg_8", smallMessages)},
		{name: "the state", file: d.file, edit: spoilState, says: `the record "state" of petstore fails its checksum`, want: d.exportOf(t, nil, "", -1)},
		{name: "the state and a block", file: spoil(t, d.file, lastBlock), edit: spoilState, says: "fails its checksum", want: d.exportOf(t, lostLast, "", -1)},
		{name: "the freelist", file: freelist, says: "freelist", want: d.exportOf(t, nil, "", smallMessages)},
		{name: "a meta page", file: olderMeta, says: "meta page", want: d.exportOf(t, nil, "", -1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := dbPath(t)
			writeFile(t, path, c.file)
			if c.edit != nil {
				edit(t, path, c.edit)
			}
			var out, reports strings.Builder
			x, err := storage.Export(path, &out, &storage.ExportOptions{SkipDamaged: true, OnDamage: func(err error) { fmt.Fprintln(&reports, err) }})
			if diff := cmp.Diff(c.want, out.String()); diff != "" || err != nil {
				t.Errorf("the export returned %v (-want +got):\n%s", err, diff)
			}
			if got := reports.String(); !strings.Contains(got, c.says) || (got == "") != (c.says == "") || strings.Contains(got, "the queue holds") {
				t.Errorf("reported %q, want %q", got, c.says)
			}
			pets, messages := int64(strings.Count(c.want, `"name":`)), int64(strings.Count(c.want, `"message":`))
			want := storage.Totals{Pets: pets, Messages: messages, LostPets: smallPets - pets, LostMessages: smallMessages - messages}
			if strings.Contains(c.want, `"lastMessage":-1`) {
				want.LostPets, want.LostMessages = -1, -1
			}
			if x != want {
				t.Errorf("exported %+v, want %+v", x, want)
			}
			if _, err := storage.Export(path, &out, nil); errors.Is(err, storage.ErrDamaged) != (c.says != "") {
				t.Errorf("with nothing skipped, the export returned %v", err)
			}
			got, err := storage.Import(t.Context(), filepath.Join(dir, c.name), strings.NewReader(c.want), &storage.ImportOptions{NewIDs: true})
			if want := (storage.Totals{Pets: pets, Messages: messages}); got != want || err != nil {
				t.Errorf("imported %+v, %v", got, err)
			}
		})
	}
}
