package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// exported returns the export of the store at path, which must be sound.
func exported(t testing.TB, path string) string {
	t.Helper()
	if got := problems(t, path); got != "" {
		t.Errorf("the store is damaged:\n%s", got)
	}
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
	var end storage.End
	for _, pet := range d.pets {
		if skip == nil || !skip(pet) {
			var err error
			if b, err = pet.AppendJSON(b); err != nil {
				t.Fatal(err)
			}
			b = append(b, '\n')
			end.Pets++
		}
	}
	for _, m := range d.queue {
		if m.ID != skipMessage {
			line, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, line...), '\n')
			end.Messages++
		}
	}
	return fmt.Sprintf(`%s{"end":{"pets":%d,"messages":%d,"lastMessage":%d}}`+"\n", b, end.Pets, end.Messages, last)
}

// TestExport exports a sound file and damaged ones. What is left can be imported again.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.db")
	d := small(t)
	flip := func(records ...string) func([]byte) {
		return func(b []byte) {
			for _, record := range records {
				if !bytes.Contains(b, []byte(record)) {
					t.Fatalf("the file has no %s", record)
				}
				for at := 0; bytes.Contains(b[at:], []byte(record)); b[at-1] ^= 1 {
					at += bytes.Index(b[at:], []byte(record)) + len(record)
				}
			}
		}
	}
	// Only the table of all pets has these two in a row.
	inBlock := `"name":"pet 100","categoryId":100,"status":"available"},{"id":102,"name":"pet 101"`
	// The pets without a status that are in one block with those. The last block of
	// all is another one.
	lost := func(p petstore.Pet) bool { return p.Status == "" && p.ID > 95 && p.ID < 123 }
	for _, c := range []struct {
		name    string
		damage  func(b []byte)
		edited  bool // the state is damaged with bbolt
		says    string
		want    string
		unknown bool // how much is lost
	}{
		{name: "sound", damage: func([]byte) {}, want: d.exportOf(t, nil, "", smallMessages)},
		{name: "a block", damage: flip(inBlock), says: "of pets fails its checksum", want: d.exportOf(t, lost, "", smallMessages)},
		{name: "a message", damage: flip("message 7"), says: "the record 8 of queue", want: d.exportOf(t, nil, "msg_8", smallMessages)},
		{name: "the state", edited: true, says: "of petstore fails its checksum", want: d.exportOf(t, nil, "", -1), unknown: true},
		{name: "a meta page", damage: func(b []byte) { b[60] ^= 1 }, says: "meta page", want: d.exportOf(t, nil, "", -1), unknown: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Clone(d.file)
			if c.damage != nil {
				c.damage(b)
			}
			writeFile(t, path, b)
			if c.edited {
				edit(t, path, spoilState)
			}
			var out, reports strings.Builder
			x, err := storage.Export(path, &out, func(err error) { fmt.Fprintln(&reports, err) })
			if diff := cmp.Diff(c.want, out.String()); diff != "" || err != nil {
				t.Errorf("the export returned %v (-want +got):\n%s", err, diff)
			}
			if got := reports.String(); !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
				t.Errorf("reported %q, want %q", got, c.says)
			}
			pets, messages := int64(strings.Count(c.want, `"name":`)), int64(strings.Count(c.want, `"message":`))
			want := storage.Exported{Pets: pets, Messages: messages, LostPets: smallPets - pets, LostMessages: smallMessages - messages}
			if c.unknown {
				want.LostPets, want.LostMessages = -1, -1
			}
			if x != want {
				t.Errorf("exported %+v, want %+v", x, want)
			}
			if _, err := storage.Export(path, &out, nil); errors.Is(err, storage.ErrDamaged) != (c.says != "") {
				t.Errorf("with nothing skipped, the export returned %v", err)
			}
			p, m, err := storage.Import(t.Context(), filepath.Join(dir, c.name), strings.NewReader(c.want), &storage.ImportOptions{NewIDs: true})
			if p != pets || m != messages || err != nil {
				t.Errorf("imported %d, %d, %v", p, m, err)
			}
		})
	}
}

// writer fails or cuts a file short when the 50th line is written to it.
type writer struct {
	path  string // "": it fails
	lines int
}

func (w *writer) Write(b []byte) (int, error) {
	switch w.lines += bytes.Count(b, []byte("\n")); {
	case w.lines < 50:
	case w.path == "":
		return 0, os.ErrClosed
	default:
		return len(b), os.Truncate(w.path, 3*pageSize)
	}
	return len(b), nil
}

// TestExportCutShort cuts a file that is being exported, and exports to a writer that
// fails.
func TestExportCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	writeFile(t, path, small(t).file)
	if _, err := storage.Export(path, &writer{}, func(error) {}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("to a writer that fails, the export returned %v", err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("a file that is mapped cannot be cut short")
	}
	_, err := storage.Export(path, &writer{path: path}, nil)
	if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "cut short while it was read") {
		t.Errorf("the export returned %v", err)
	}
}
