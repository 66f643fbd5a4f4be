package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

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
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(strings.ReplaceAll(lines, "\n", "\n\n")), nil)
		if got := exported(t, path); err != nil || got != lines {
			t.Errorf("%s: the import returned %v, and %d bytes of %d", name, err, len(got), len(lines))
		}
	}
}

// TestImportNewIDs: pets get new IDs, and no number of a message is given to another
// one.
func TestImportNewIDs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	const text = `,"message":"a","status":"queued","createdAt":"2026-01-02T03:04:05Z"}` + "\n"
	lines := `{"id":5,"name":"a","categoryId":1,"status":"sold"}
{"categoryId":7, "name":"no ID"}
{"message":"first","createdAt":"2026-01-02T04:04:05+01:00","status":"queued"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_7"` + text + `{"id":5,"name":"b","categoryId":1}`
	want := `{"id":1,"name":"a","categoryId":1,"status":"sold"}
{"id":2,"name":"no ID","categoryId":7}
{"id":3,"name":"b","categoryId":1}
{"id":"msg_1","message":"first","status":"queued","createdAt":"2026-01-02T03:04:05Z"}
{"id":"msg_7"` + text + `{"id":"msg_12"` + text + `{"id":"msg_13"` + text + `{"end":{"pets":3,"messages":4,"lastMessage":13}}` + "\n"
	pets, messages, err := storage.Import(t.Context(), path, strings.NewReader(lines), &storage.ImportOptions{NewIDs: true})
	if err != nil || pets != 3 || messages != 4 {
		t.Fatalf("the import returned %d, %d, %v", pets, messages, err)
	}
	if got := exported(t, path); got != want {
		t.Errorf("the store holds\n%s", got)
	}
}

// TestImportErrors: an import that fails names the line and leaves nothing, or the file
// that was there.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	const (
		pet     = `{"id":1,"name":"a","categoryId":1}` + "\n"
		message = `{"id":"msg_4","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}` + "\n"
		end     = `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n"
	)
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.db")
	for _, c := range []struct{ lines, want string }{
		{"", "the export was cut short"},
		{pet + message, "the export was cut short"},
		{pet + `{"id":2,"name`, "line 2: "},
		{"[1]", "line 1: "},
		{"{}", "line 1: must be a pet, a message or the end"},
		{`{"id":1,"name":"a","categoryId":1,"message":"b"}`, "line 1: must be a pet, a message or the end"},
		{`{"id":1,"name":"a","name":"b","categoryId":1}`, "line 1: "},
		{pet + `{"id":2,"nme":"a","categoryId":1}`, "line 2: nme: an unknown member"},
		{`{"id":1,"name":"a"}`, "line 1: a pet must have a name and a categoryId"},
		{`{"id":1,"name":null,"categoryId":1}`, "line 1: a pet must have a name and a categoryId"},
		{`{"id":1,"name":7,"categoryId":1}`, "line 1: name: an unknown member, or the wrong type or range"},
		{`{"id":1,"name":"a","categoryId":1.0}`, "line 1: categoryId: "},
		{`{"id":1,"name":"a","categoryId":9223372036854775808}`, "line 1: categoryId: "},
		{`{"id":1,"name":"` + "\xff" + `","categoryId":1}`, "line 1: "},
		{`{"id":1,"name":"a","categoryId":1,"status":"lost"}`, "line 1: status: must be one of available, pending, sold"},
		{`{"id":"1","name":"a","categoryId":1}`, `line 1: id: must be a positive integer, got "1"`},
		{`{"id":-1,"name":"a","categoryId":1}`, `line 1: id: must be a positive integer, got -1`},
		{`{"name":"a","categoryId":1}`, "line 1: the IDs cannot be kept: the pet has no ID"},
		{pet + pet, "line 2: the IDs cannot be kept: the pet has the ID 1, want 2"},
		{pet + strings.Replace(pet, "1", "3", 1), "line 2: the IDs cannot be kept: the pet has the ID 3, want 2"},
		{message + message, `line 2: the IDs cannot be kept: the message has the ID "msg_4" and follows number 4`},
		{strings.Replace(message, "msg_4", "4", 1), `line 1: id: must be from msg_1 to msg_9007199254740991, got "4"`},
		{strings.Replace(message, "msg_4", "msg_9007199254740992", 1), "line 1: id: must be from msg_1 to msg_9007199254740991"},
		{strings.Replace(end, ":0}}", ":9007199254740992}}", 1), "line 1: lastMessage: must be at most 9007199254740991, got 9007199254740992"},
		{strings.Replace(message, "queued", "sent", 1), `line 1: a message must have a message, a createdAt and the status "queued"`},
		{strings.Replace(message, `"status":"queued",`, "", 1), `line 1: a message must have a message, a createdAt and the status "queued"`},
		{strings.Replace(message, "2026", "1600", 1), "line 1: createdAt: must be in the years 1678 to 2261"},
		{strings.Replace(message, "2026-", "", 1), "line 1: createdAt: an unknown member, or the wrong type or range"},
		{message + `{"end":{"pets":0,"messages":2,"lastMessage":4}}`, "line 2: the last line counts 0 pets and 2 messages, but 0 and 1 precede it"},
		{pet + strings.Replace(end, "0", "2", 1), "line 2: the last line counts 2 pets and 0 messages, but 1 and 0 precede it"},
		{end + pet, "line 2: there is more after the end of the export"},
	} {
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(c.lines), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\nthe import returned %v, want %s", c.lines, err, c.want)
		}
		if errors.Is(err, storage.ErrIDs) != strings.Contains(c.want, "the IDs cannot be kept") {
			t.Errorf("%v is ErrIDs, or should be", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := storage.Import(ctx, path, strings.NewReader(pet+strings.Replace(end, "0", "1", 1)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	wantFiles(t, dir)
	for _, content := range [][]byte{small(t).file, []byte("hello"), nil} {
		process.WriteFile(t, path, content)
		_, _, err := storage.Import(t.Context(), path, strings.NewReader(end), nil)
		if !errors.Is(err, fs.ErrExist) || !bytes.Equal(process.ReadFile(t, path), content) {
			t.Errorf("where a file is, the import returned %v", err)
		}
	}
	wantFiles(t, dir, "pets.db")
}

// TestLoad loads more than two transactions, and a pet that is refused.
func TestLoad(t *testing.T) {
	t.Parallel()
	const many = 120_001
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		n, bad  int
		loaded  int64
		isError bool
	}{
		{t.Context(), 0, -1, 0, false},
		{t.Context(), many, -1, many, false},
		{t.Context(), 10, 7, 7, true},
		{cancelled, 10, -1, 0, true},
	} {
		n, err := s.Load(c.ctx, pets(c.n, c.bad))
		if n != c.loaded || (err != nil) != c.isError || c.bad >= 0 && petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("loading %d pets, of which %d is invalid: %d, %v", c.n, c.bad, n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	id := int64(0)
	for line := range strings.Lines(exported(t, path)) {
		var want []byte
		if id++; id <= many+7 {
			want, _ = petstore.Pet{ID: id, NewPet: petOf(int(id-1) % many)}.AppendJSON(nil)
		} else {
			want = fmt.Appendf(nil, `{"end":{"pets":%d,"messages":0,"lastMessage":0}}`, many+7)
		}
		if line != string(want)+"\n" {
			t.Fatalf("the line %d is %s", id, line)
		}
	}
}

// TestLargestPet stores the largest pet that is accepted, of characters that take six
// bytes each when encoded, and a larger one, which is refused.
func TestLargestPet(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "pets.db"))
	overhead := len(`,"name":"","categoryId":0}`)
	largest := (64<<20 - overhead) / len(`\u0001`)
	create := func(length int) error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{Name: strings.Repeat("\x01", length)}, petstore.Once{})
		return err
	}
	if err := create(largest + 1); petstore.CodeOf(err) != petstore.CodeInvalid || !strings.Contains(err.Error(), "67108864") {
		t.Errorf("a name of %d control characters: %v, want it to be invalid", largest+1, err)
	}
	if err := create(largest); err != nil {
		t.Errorf("a name of %d control characters: %v", largest, err)
	}
	// Together they are too large for one change.
	pet := petstore.NewPet{Name: strings.Repeat("\x01", 6<<20)}
	if n, err := s.Load(t.Context(), slices.Values([]petstore.NewPet{pet, pet})); n != 2 || err != nil {
		t.Errorf("loaded %d, %v; want 2", n, err)
	}
}

// TestImportUnknownNumber: the export of a damaged file may not know the highest number
// of a message. No number is issued twice.
func TestImportUnknownNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	lines := `{"id":"msg_5","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05Z"}` + "\n" + `{"end":{"pets":0,"messages":1,"lastMessage":-1}}`
	if _, _, err := storage.Import(t.Context(), path, strings.NewReader(lines), nil); err != nil {
		t.Fatal(err)
	}
	if m, err := open(t, path).SubmitMessage(t.Context(), "b", petstore.Once{}); m.ID != "msg_6" {
		t.Errorf("SubmitMessage returned %v, %v", m, err)
	}
}
