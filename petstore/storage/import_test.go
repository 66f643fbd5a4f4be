package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore/storage"
)

// TestImport: the export of a store that was imported has the lines of the import.
func TestImport(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	writeFile(t, path, small(t).file)
	var many strings.Builder
	const n = 50_001 // more than one transaction
	for i := range n {
		fmt.Fprintf(&many, `{"id":%d,"name":"pet","categoryId":%d,"status":"sold"}`+"\n", i+1, i)
	}
	for i := range n {
		fmt.Fprintf(&many, `{"id":"msg_%d","message":"text %d","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}`+"\n", 2*i+5, i)
	}
	fmt.Fprintf(&many, `{"end":{"pets":%d,"messages":%d,"lastMessage":%d}}`+"\n", n, n, 3*n)
	for name, lines := range map[string]string{
		"small": exported(t, path),
		"many":  many.String(),
		"empty": `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n",
	} {
		path := dbPath(t)
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(strings.ReplaceAll(lines, "\n", "\n\n")), false)
		if got := exported(t, path); err != nil || got != lines {
			t.Errorf("%s: the import returned %v, and %d bytes of %d", name, err, len(got), len(lines))
		}
	}
}

// TestImportNewIDs: pets get new IDs, and no number of a message is given to another
// one. The export of a damaged file may not know the highest number.
func TestImportNewIDs(t *testing.T) {
	path := dbPath(t)
	const text = `,"message":"a","status":"queued","createdAt":"2026-01-02T03:04:05Z"}` + "\n"
	lines := `{"id":5,"name":"a","categoryId":1,"status":"sold"}
{"categoryId":7, "name":"no ID"}
{"message":"first","createdAt":"2026-01-02T04:04:05+01:00","status":"queued"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_7"` + text + `{"id":5,"name":"b","categoryId":1}` +
		`{"end":{"pets":3,"messages":4,"lastMessage":-1}}`
	want := `{"id":1,"name":"a","categoryId":1,"status":"sold"}
{"id":2,"name":"no ID","categoryId":7}
{"id":3,"name":"b","categoryId":1}
{"id":"msg_1","message":"first","status":"queued","createdAt":"2026-01-02T03:04:05Z"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_13"` + text + `{"end":{"pets":3,"messages":4,"lastMessage":13}}` + "\n"
	pets, messages, err := storage.Import(t.Context(), path, strings.NewReader(lines), true)
	if err != nil || pets != 3 || messages != 4 {
		t.Fatalf("the import returned %d, %d, %v", pets, messages, err)
	}
	if got := exported(t, path); got != want {
		t.Errorf("the store holds\n%s", got)
	}
}

// TestImportErrors: an import that fails names the record and leaves nothing, or the file
// that was there.
func TestImportErrors(t *testing.T) {
	const (
		pet     = `{"id":1,"name":"a","categoryId":1}` + "\n"
		message = `{"id":"msg_4","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}` + "\n"
		end     = `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n"
		kinds   = "record 1: must be a pet with a name and a categoryId, a message with "
	)
	path := dbPath(t)
	for _, c := range []struct{ lines, want string }{
		{"", "the export was cut short"},
		{pet + message, "the export was cut short"},
		{pet + `{"id":2,"name`, "record 2: "},
		{"[1]", "record 1: "},
		{strings.Replace(message, "2026", "2600", 1), "record 1: createdAt: must be from the year 1678 to 2261"},
		{strings.Replace(message, "msg_4", "msg_4611686018427387905", 1), "record 1: id: must be at most msg_4611686018427387904"},
		{strings.Replace(end, `"lastMessage":0`, `"lastMessage":4611686018427387905`, 1), "record 1: lastMessage: must be at most 4611686018427387904"},
		{"{}", kinds},
		{`{"id":1,"name":"a","categoryId":1,"message":"b"}`, kinds},
		{`{"id":1,"name":"a"}`, kinds},
		{`{"id":1,"name":null,"categoryId":1}`, kinds},
		{strings.Replace(message, `"createdAt"`, `"name":"a","createdAt"`, 1), kinds},
		{strings.Replace(message, "queued", "sent", 1), kinds},
		{strings.Replace(message, `"status":"queued",`, "", 1), kinds},
		{`{"id":1,"categoryId":1,"nme":"a"}`, "record 1: "},
		{`{"id":1,"name":"a","categoryId":1,"status":"lost"}`, "record 1: status: must be one of available, pending, sold"},
		{strings.Replace(pet, `"id":1,`, "", 1), `record 1: the IDs cannot be kept: the pet has the ID 0, want 1`},
		{pet + pet, `record 2: the IDs cannot be kept: the pet has the ID 1, want 2`},
		{message + message, `record 2: the IDs cannot be kept: the message has the ID "msg_4" and follows number 4`},
		{strings.Replace(message, "msg_4", "4", 1), `record 1: the IDs cannot be kept: the message has the ID "4" and follows number 0`},
		{message + `{"end":{"pets":0,"messages":2,"lastMessage":4}}`, "record 2: the last line counts 0 pets and 2 messages, but 0 and 1 precede it"},
		{pet + strings.Replace(end, "0", "2", 1), "record 2: the last line counts 2 pets and 0 messages, but 1 and 0 precede it"},
		{end + pet, "record 2: there is more after the end of the export"},
	} {
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(c.lines), false)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\nthe import returned %v, want %s", c.lines, err, c.want)
		}
		if errors.Is(err, storage.ErrIDs) != strings.Contains(c.want, "the IDs cannot be kept") {
			t.Errorf("%v is ErrIDs, or should be", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := storage.Import(ctx, path, strings.NewReader(pet+strings.Replace(end, "0", "1", 1)), false); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	wantFiles(t, filepath.Dir(path))
	for _, content := range [][]byte{small(t).file, nil} {
		process.WriteFile(t, path, content)
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(end), false)
		if !errors.Is(err, fs.ErrExist) || !bytes.Equal(process.ReadFile(t, path), content) {
			t.Errorf("where a file is, the import returned %v", err)
		}
	}
	wantFiles(t, filepath.Dir(path), "pets.db")
}
