package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// exported returns the export of the store at path, which must be sound.
func exported(t *testing.T, path string) string {
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

// TestImport: the export of a store that was imported has the lines of the import.
func TestImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.db")
	writeFile(t, path, small(t).file)
	var many strings.Builder
	const n = 50_001 // more than one transaction
	for i := range n {
		fmt.Fprintf(&many, `{"id":"msg_%d","message":"text %d","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}`+"\n", 2*i+5, i)
	}
	fmt.Fprintf(&many, `{"end":{"pets":0,"messages":%d,"lastMessage":%d}}`+"\n", n, 3*n)
	for name, lines := range map[string]string{
		"small":    exported(t, path),
		"messages": many.String(),
		"empty":    `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n",
	} {
		path := filepath.Join(dir, name)
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(lines), nil)
		if got := exported(t, path); err != nil || got != lines {
			t.Errorf("%s: the import returned %v, and %d bytes of %d", name, err, len(got), len(lines))
		}
	}
	// An empty store need not be new.
	if _, _, err := storage.Import(t.Context(), filepath.Join(dir, "empty"), strings.NewReader(exported(t, path)), nil); err != nil {
		t.Error(err)
	}
}

// TestImportNewIDs adds to a store that holds pets and messages.
func TestImportNewIDs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	writeFile(t, path, small(t).file)
	before, lines := exported(t, path), `{"categoryId":7, "name":"no ID"}
{"id":5,"name":"a","categoryId":1,"status":"sold"}
{"id":5,"name":"b","categoryId":1}
{"message":"text","createdAt":"2026-01-02T04:04:05+01:00","status":"queued"}`
	o := &storage.ImportOptions{NewIDs: true, DryRun: true}
	added, queued, err := storage.Import(t.Context(), path, strings.NewReader(lines), o)
	if err != nil || added != 3 || queued != 1 || exported(t, path) != before {
		t.Errorf("the dry run returned %d, %d, %v", added, queued, err)
	}
	o.DryRun = false
	if _, _, err := storage.Import(t.Context(), path, strings.NewReader(lines), o); err != nil {
		t.Fatal(err)
	}
	pets, messages := split(before)
	want := pets + fmt.Sprintf(`{"id":%d,"name":"no ID","categoryId":7}
{"id":%d,"name":"a","categoryId":1,"status":"sold"}
{"id":%d,"name":"b","categoryId":1}
`, smallPets+1, smallPets+2, smallPets+3) + messages + fmt.Sprintf(`{"id":"msg_%d","message":"text","status":"queued","createdAt":"2026-01-02T03:04:05Z"}
{"end":{"pets":%d,"messages":%[1]d,"lastMessage":%[1]d}}
`, smallMessages+1, smallPets+3)
	if got := exported(t, path); got != want {
		t.Errorf("the store holds\n%s", got)
	}
}

// TestImportKeepsNumbers: in a store that never held a message, no number is given to
// another message, although the pets get new IDs.
func TestImportKeepsNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	const text = `,"message":"a","status":"queued","createdAt":"2026-01-02T03:04:05Z"}` + "\n"
	lines := `{"id":9,"name":"a","categoryId":1}` + "\n" + `{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_7"` + text +
		`{"end":{"pets":1,"messages":3,"lastMessage":50}}` + "\n"
	if _, _, err := storage.Import(t.Context(), path, strings.NewReader(lines), &storage.ImportOptions{NewIDs: true}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(lines, `"id":9`, `"id":1`, 1), "msg_12\""+text+`{"id":"msg_7`, "msg_12\""+text+`{"id":"msg_13`, 1)
	if got := exported(t, path); got != want {
		t.Errorf("the store holds\n%s", got)
	}
}

// TestImportErrors: an import that fails changes nothing, and names the line.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	const (
		pet     = `{"id":1,"name":"a","categoryId":1}` + "\n"
		message = `{"id":"msg_4","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}` + "\n"
	)
	dir := t.TempDir()
	for _, c := range []struct{ lines, want string }{
		{"", "the export was cut short"},
		{pet + message, "the export was cut short"},
		{pet + `{"id":2,"name`, "line 2: must be a JSON object: "},
		{pet + "\n", "line 2: must be a JSON object: "},
		{"[1]", "line 1: must be a JSON object: "},
		{"{}", "line 1: must be a pet, a message or the end"},
		{`{"id":1,"name":"a","categoryId":1,"message":"b"}`, "line 1: must be a pet, a message or the end"},
		{`{"id":1,"name":"a","name":"b","categoryId":1}`, `line 1: must be a JSON object: jsontext: duplicate object member name "name"`},
		{pet + `{"id":2,"nme":"a","categoryId":1}`, "line 2: nme: unknown member"},
		{`{"id":1,"name":"a"}`, "line 1: a pet must have a name and a categoryId"},
		{`{"id":1,"name":null,"categoryId":1}`, "line 1: a pet must have a name and a categoryId"},
		{`{"id":1,"name":7,"categoryId":1}`, "line 1: name: has the wrong type or range: number"},
		{`{"id":1,"name":"a","categoryId":1.0}`, "line 1: categoryId: has the wrong type or range: 1.0"},
		{`{"id":1,"name":"a","categoryId":9223372036854775808}`, "line 1: categoryId: has the wrong type or range: 9223372036854775808"},
		{`{"id":1,"name":"` + "\xff" + `","categoryId":1}`, "line 1: must be a JSON object: jsontext: invalid UTF-8"},
		{`{"id":1,"name":"a","categoryId":1,"status":"lost"}`, "line 1: status: must be one of available, pending, sold"},
		{`{"id":"1","name":"a","categoryId":1}`, `line 1: id: must be a positive integer, got "1"`},
		{`{"id":-1,"name":"a","categoryId":1}`, `line 1: id: must be a positive integer, got -1`},
		{`{"name":"a","categoryId":1}`, "line 1: the IDs cannot be kept: the pet has the ID 0, want 1"},
		{pet + pet, "line 2: the IDs cannot be kept: the pet has the ID 1, want 2"},
		{pet + `{"id":3,"name":"a","categoryId":1}`, "line 2: the IDs cannot be kept: the pet has the ID 3, want 2"},
		{message + message, `line 2: the IDs cannot be kept: the message has the ID "msg_4" and follows number 4`},
		{strings.Replace(message, "msg_4", "4", 1), `line 1: id: must be from msg_1 to msg_9007199254740991, got "4"`},
		{strings.Replace(message, "msg_4", "msg_9007199254740992", 1), `line 1: id: must be from msg_1 to msg_9007199254740991, got "msg_9007199254740992"`},
		{`{"end":{"pets":0,"messages":0,"lastMessage":9007199254740992}}`, "line 1: lastMessage: must be at most 9007199254740991, got 9007199254740992"},
		{strings.Replace(message, "queued", "sent", 1), `line 1: a message must have a message, a createdAt and the status "queued"`},
		{strings.Replace(message, `"status":"queued",`, "", 1), `line 1: a message must have a message, a createdAt and the status "queued"`},
		{strings.Replace(message, "2026", "1600", 1), "line 1: createdAt: must be in the years 1678 to 2261"},
		{strings.Replace(message, "2026-", "", 1), "line 1: createdAt: has the wrong type or range"},
		{pet + `{"end":{"pets":2,"messages":0,"lastMessage":0}}`, "line 2: the last line counts 2 pets and 0 messages, but 1 and 0 precede it"},
		{`{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n" + pet, "line 2: there is more after the end of the export"},
	} {
		_, _, err := storage.Import(t.Context(), filepath.Join(dir, "pets.db"), strings.NewReader(c.lines), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\nthe import returned %v, want %s", c.lines, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := storage.Import(ctx, filepath.Join(dir, "pets.db"), strings.NewReader(pet), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("the imports left %v (%v)", entries, err)
	}
	path := filepath.Join(dir, "other.db")
	writeFile(t, path, small(t).file)
	if _, _, err := storage.Import(t.Context(), path, strings.NewReader(pet), nil); !errors.Is(err, storage.ErrIDs) {
		t.Errorf("into a store that holds pets: %v", err)
	}
	s := open(t, path)
	defer s.Close()
	if _, _, err := storage.Import(t.Context(), path, strings.NewReader(pet), &storage.ImportOptions{NewIDs: true}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("into a store that is open: %v", err)
	}
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "a"}, petstore.Once{}); err != nil {
		t.Error(err)
	}
}
