package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
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
		_, err := storage.Import(t.Context(), path, strings.NewReader(strings.ReplaceAll(lines, "\n", "\n\n")), nil)
		if got := exported(t, path); err != nil || got != lines {
			t.Errorf("%s: the import returned %v, and %d bytes of %d", name, err, len(got), len(lines))
		}
	}
}

// TestImportNewIDs: pets get new IDs, and no number of a message is given to another
// one. The export of a damaged file may not know the highest number.
func TestImportNewIDs(t *testing.T) {
	path := dbPath(t)
	const text = `,"message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.000Z"}` + "\n"
	lines := `{"id":5,"name":"a","categoryId":1,"status":"sold"}
{"categoryId":7, "name":"no ID"}
{"message":"first","createdAt":"2026-01-02T04:04:05+01:00","status":"queued"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_7"` + text + `{"id":5,"name":"b","categoryId":1}` +
		"\r\n" + `{"end":{"pets":3,"messages":4,"lastMessage":-1}}`
	want := `{"id":1,"name":"a","categoryId":1,"status":"sold"}
{"id":2,"name":"no ID","categoryId":7}
{"id":3,"name":"b","categoryId":1}
{"id":"msg_1","message":"first","status":"queued","createdAt":"2026-01-02T03:04:05.000Z"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_13"` + text + `{"end":{"pets":3,"messages":4,"lastMessage":13}}` + "\n"
	got, err := storage.Import(t.Context(), path, strings.NewReader(lines), &storage.ImportOptions{NewIDs: true})
	if want := (storage.Totals{Pets: 3, Messages: 4}); err != nil || got != want {
		t.Fatalf("the import returned %+v, %v", got, err)
	}
	if got := exported(t, path); got != want {
		t.Errorf("the store holds\n%s", got)
	}
}

// TestImportLimits: an import accepts what a store accepts: the longest texts, however they
// are escaped, and the highest number of a message, with which the queue is full for good.
func TestImportLimits(t *testing.T) {
	lines := fmt.Sprintf(`{"id":1,"name":"%s","categoryId":1}
{"id":"msg_4","message":"%[1]s","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}
{"end":{"pets":1,"messages":1,"lastMessage":%d}}`, strings.Repeat(`\u0000`, petstore.MaxTextBytes), int64(math.MaxInt64-1))
	path := dbPath(t)
	if _, err := storage.Import(t.Context(), path, strings.NewReader(lines), nil); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if m, err := s.SubmitMessage(t.Context(), "last", petstore.IdempotencyKey{}); err != nil || m.ID != fmt.Sprint("msg_", int64(math.MaxInt64)) {
		t.Errorf("the last message: %+v, %v", m, err)
	}
	if _, err := s.SubmitMessage(t.Context(), "none", petstore.IdempotencyKey{}); !errors.Is(err, petstore.ErrQueueFull) {
		t.Errorf("a message after the last one: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Import(t.Context(), dbPath(t), strings.NewReader(exported(t, path)), nil); err != nil {
		t.Errorf("its own export: %v", err)
	}
}

// TestImportErrors: an import that fails names the line and leaves nothing, or the file
// that was there.
func TestImportErrors(t *testing.T) {
	const (
		pet     = `{"id":1,"name":"a","categoryId":1}` + "\n"
		message = `{"id":"msg_4","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}` + "\n"
		end     = `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n"
		kinds   = "line 1: must be a pet with a name and a categoryId, a message with "
	)
	path := dbPath(t)
	for _, c := range []struct{ lines, want string }{
		{"", "there is nothing to import"},
		{pet + message, "the export was cut short"},
		{pet + `{"id":2,"name`, "line 2: "},
		{"\n\n[\n{}\n]", "line 3: must be one JSON object on each line"},
		{"{\n" + pet[1:], "line 1: must be one JSON object on each line: unexpected EOF"},
		{strings.TrimSpace(pet) + end, "line 1: must be one JSON object on each line: invalid character '{' after top-level value"},
		{"null", "line 1: must be one JSON object on each line"},
		{"[1]", "line 1: must be one JSON object on each line"},
		{strings.Replace(message, "2026", "2600", 1), "line 1: createdAt: must be from the year 1678 to 2261"},
		{strings.Replace(message, "msg_4", "msg_9223372036854775808", 1), `line 1: the IDs cannot be kept: the message has the ID "msg_9223372036854775808"`},
		{strings.Replace(end, `"lastMessage":0`, `"lastMessage":9223372036854775808`, 1), "line 1: end/lastMessage: "},
		{"{}", kinds},
		{`{"id":1,"name":"a","categoryId":1,"end":{"pets":0,"messages":0,"lastMessage":0}}`, kinds},
		{`{"id":1,"name":"a","categoryId":1,"message":"b"}`, kinds},
		{`{"id":1,"name":"a"}`, kinds},
		{`{"id":1,"name":"a","categoryId":1,"createdAt":"2026-01-02T03:04:05Z"}`, kinds},
		{strings.Replace(message, `"id"`, `"categoryId":1,"id"`, 1), kinds},
		{`{"id":1,"name":null,"categoryId":1}`, kinds},
		{strings.Replace(message, `"createdAt"`, `"name":"a","createdAt"`, 1), kinds},
		{strings.Replace(message, "queued", "sent", 1), kinds},
		{strings.Replace(message, `"status":"queued",`, "", 1), kinds},
		{`{"id":1,"categoryId":1,"nme":"a"}`, `line 1: unknown member "nme"`},
		{`{"id":1,"name":7,"categoryId":1}`, "line 1: name: must not be a JSON value of the kind number"},
		{`{"id":1,"name":"a","categoryId":1.0}`, "line 1: categoryId: "},
		{`{"end":{"pets":"1"}}`, "line 1: end/pets: must not be a JSON value of the kind string"},
		{strings.Replace(message, "2026-", "", 1), "line 1: createdAt: "},
		{`{"id":1,"name":"a","categoryId":1,"status":null}`, "line 1: status: must be one of"},
		{`{"id":1,"name":"a","categoryId":1,"status":""}`, "line 1: status: must be one of"},
		{pet + strings.Replace(pet, `"a"`, `"`+strings.Repeat("a", 64<<10+1)+`"`, 1), "line 2: name: must have at most 65536 bytes, got 65537"},
		{strings.Replace(message, `"a"`, `"`+strings.Repeat(`\u0061`, 64<<10+1)+`"`, 1), "line 1: message: must have at most 65536 bytes, got 65537"},
		{pet + strings.Replace(pet, `"a"`, `"`+strings.Repeat("a", 1<<20)+`"`, 1), "line 2: must have at most 458752 bytes"},
		{`{"id":1,"name":"a","categoryId":1,"status":"lost"}`, "line 1: status: must be one of available, pending, sold"},
		{strings.Replace(pet, `"id":1,`, "", 1), `line 1: the IDs cannot be kept: the pet has the ID 0, want 1`},
		{pet + pet, `line 2: the IDs cannot be kept: the pet has the ID 1, want 2`},
		{message + message, `line 2: the IDs cannot be kept: the message has the ID "msg_4" and follows number 4`},
		{strings.Replace(message, "msg_4", "4", 1), `line 1: the IDs cannot be kept: the message has the ID "4" and follows number 0`},
		{message + `{"end":{"pets":0,"messages":2,"lastMessage":4}}`, "line 2: the last line counts 0 pets and 2 messages, but 0 and 1 precede it"},
		{pet + strings.Replace(end, "0", "2", 1), "line 2: the last line counts 2 pets and 0 messages, but 1 and 0 precede it"},
		{end + pet, "line 2: there is more after the end of the export"},
	} {
		_, err := storage.Import(t.Context(), path, strings.NewReader(c.lines), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\nthe import returned %v, want %s", c.lines, err, c.want)
		}
		if errors.Is(err, storage.ErrIDs) != strings.Contains(c.want, "the IDs cannot be kept") {
			t.Errorf("%v is ErrIDs, or should be", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := storage.Import(ctx, path, strings.NewReader(pet+strings.Replace(end, "0", "1", 1)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	wantFiles(t, filepath.Dir(path))
	for _, content := range [][]byte{small(t).file, nil} {
		process.WriteFile(t, path, content)
		_, err := storage.Import(t.Context(), path, strings.NewReader(end), nil)
		if !errors.Is(err, fs.ErrExist) || !bytes.Equal(process.ReadFile(t, path), content) {
			t.Errorf("where a file is, the import returned %v", err)
		}
	}
	wantFiles(t, filepath.Dir(path), "pets.db")
}
