package storage_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

// TestImport: the export of a store that was imported has the lines of the import.
func TestImport(t *testing.T) {
	t.Parallel()
	var many, outcomes strings.Builder
	const n = 3601 // more than one transaction of pets, and of messages
	for i := range n {
		fmt.Fprintf(&many, `{"id":%d,"name":"%0900d","categoryId":%[1]d,"status":"sold"}`+"\n", i+1, i)
	}
	for i := range n {
		fmt.Fprintf(&many, `{"id":"msg_%d","message":"%0900d","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}`+"\n", 2*i+5, i)
	}
	for i := range n {
		var key [32]byte
		binary.BigEndian.PutUint32(key[:], uint32(i+1))
		text := base64.StdEncoding.EncodeToString(key[:])
		fmt.Fprintf(&outcomes, `{"outcome":{"key":"%s","value":"%[1]s","pet":%d,"created":%d}}`+"\n", text, i+1, time.Now().UnixMicro())
	}
	many.WriteString(outcomes.String())
	// Each member of a pet and of a message.
	pet, err := storagetest.SamplePet().AppendJSON(nil)
	message, err2 := json.Marshal(testserver.SampleMessage())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for name, lines := range map[string]string{
		"many":    withEnd(many.String(), n, 3*n),
		"empty":   withEnd("", 0, 0),
		"samples": withEnd(string(pet)+"\n"+string(message)+"\n", 9, 9),
	} {
		path := dbPath(t)
		_, err := storage.Import(t.Context(), path, strings.NewReader(lines))
		if got := exported(t, path); err != nil || got != lines {
			t.Errorf("%s: the import returned %v, and %d bytes of %d", name, err, len(got), len(lines))
		}
		file := process.ReadFile(t, path)
		file[newerMeta(file)*pageSize+60] ^= 1
		process.WriteFile(t, path, file)
		if saved, _ := salvaged(t, path); strings.Count(saved, `"name"`) != strings.Count(lines, `"name"`) {
			t.Errorf("%s: without the newer meta page %d bytes are saved", name, len(saved))
		}
	}
}

// TestImportGaps: an ID that an import leaves out is of no pet, and is not issued.
func TestImportGaps(t *testing.T) {
	var lines strings.Builder
	here := map[int64]bool{}
	for id := int64(3); id < 2000; id += 1 + id%7 {
		if id < 500 || id > 900 {
			here[id] = true
			fmt.Fprintf(&lines, `{"id":%d,"name":"pet","categoryId":%[1]d,"status":"sold"}`+"\n", id)
		}
	}
	path := dbPath(t)
	if _, err := storage.Import(t.Context(), path, strings.NewReader(withEnd(lines.String(), 2100, 0))); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	for id := range int64(2200) {
		pet, err := s.GetPet(t.Context(), id)
		if here[id] && pet.CategoryID != id || !here[id] && !errors.Is(err, petstore.ErrNotFound) {
			t.Errorf("GetPet(%d) returned %v, %v; it is there: %v", id, pet, err, here[id])
		}
	}
	for _, status := range []petstore.Status{"", "sold"} {
		seen := map[int64]bool{}
		for after := petstore.Cursor(""); len(seen) == 0 || after != ""; {
			page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: 30, After: after, Status: status})
			if err != nil {
				t.Fatal(err)
			}
			for _, pet := range page.Pets {
				seen[pet.ID] = true
			}
			after = page.Next
		}
		if !maps.Equal(seen, here) {
			t.Errorf("the list of %q has %d pets, want %d", status, len(seen), len(here))
		}
	}
	if n := countPets(t, s); n != int64(len(here)) {
		t.Errorf("there are %d pets, want %d", n, len(here))
	}
	createPets(t, s, 3, 2101)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	mustCheck(t, path)
}

// TestImportExpired: an import leaves out outcomes that have expired. The ID of what one names is
// not issued again, even if it is missing.
func TestImportExpired(t *testing.T) {
	var lines string
	for key, age := range map[string]time.Duration{"B": 23 * time.Hour, "C": 25 * time.Hour} {
		lines = fmt.Sprintf(`{"outcome":{"key":"%s=","value":"%[1]s=","message":4,"created":%d}}`+"\n",
			strings.Repeat(key, 42)+"A", time.Now().Add(-age).UnixMicro())
		path := dbPath(t)
		got, err := storage.Import(t.Context(), path, strings.NewReader(withEnd(lines, 1, 0)))
		if err != nil || (got.Outcomes == 1) != (age < 24*time.Hour) {
			t.Fatalf("after %v: imported %+v, %v", age, got, err)
		}
		if m, err := open(t, path).SubmitMessage(t.Context(), "next", petstore.IdempotencyKey{}); err != nil || m.ID != "msg_5" {
			t.Errorf("the next message is %+v, %v", m, err)
		}
	}
}

// TestImportLimits: an import accepts what a store accepts: the longest texts, however they
// are escaped, and the highest IDs, after which no other is issued.
func TestImportLimits(t *testing.T) {
	lines := fmt.Sprintf(`{"id":1,"name":"%s","categoryId":1}
{"id":"msg_4","message":"%[1]s","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}
{"end":{"pets":1,"messages":1,"lastPet":%d,"lastMessage":%[2]d}}`, strings.Repeat(`\u0000`, petstore.MaxTextBytes), int64(math.MaxInt64-1))
	path := dbPath(t)
	if _, err := storage.Import(t.Context(), path, strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	createPets(t, s, 1, math.MaxInt64)
	if m, err := s.SubmitMessage(t.Context(), "last", petstore.IdempotencyKey{}); err != nil || m.ID != fmt.Sprint("msg_", int64(math.MaxInt64)) {
		t.Errorf("the last message: %+v, %v", m, err)
	}
	_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
	_, err2 := s.SubmitMessage(t.Context(), "none", petstore.IdempotencyKey{})
	if petstore.CodeOf(err) != petstore.CodeInsufficientStorage || petstore.CodeOf(err2) != petstore.CodeInsufficientStorage {
		t.Errorf("a pet and a message after the last ones: %v, %v", err, err2)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	saved, _ := salvaged(t, path)
	if !strings.Contains(saved, `{"id":9223372036854775807,`) {
		t.Error("the last pet is not saved")
	}
	for _, lines := range []string{exported(t, path), saved} {
		if _, err := storage.Import(t.Context(), dbPath(t), strings.NewReader(lines)); err != nil {
			t.Errorf("the import of what it holds: %v", err)
		}
	}
}

// TestImportErrors: an import that fails names the line and leaves nothing, or the file
// that was there.
func TestImportErrors(t *testing.T) {
	const (
		pet     = `{"id":1,"name":"a","categoryId":1}` + "\n"
		message = `{"id":"msg_4","message":"a","status":"queued","createdAt":"2026-01-02T03:04:05.678Z"}` + "\n"
		end     = `{"end":{"pets":0,"messages":0,"lastMessage":0}}` + "\n"
		outcome = `{"outcome":{"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=","value":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=","pet":1,"created":1}}` + "\n"
		kinds   = "line 1: must be a pet with a name and a categoryId, a message with "
	)
	path := dbPath(t)
	for _, c := range []struct{ lines, want string }{
		{"", "line 1: is missing: the export was cut short"},
		{pet + message, "line 3: is missing: the export was cut short"},
		{pet + `{"id":2,"name`, "line 2: "},
		{strings.TrimSpace(pet) + end, "line 1: must be one JSON object on each line: invalid character '{' after top-level value"},
		{"null", "line 1: must be one JSON object on each line"},
		{strings.Replace(message, "2026-01-02T03:04:05.678Z", "9999-12-31T23:59:59-01:00", 1), "line 1: createdAt: must be from the year 0 to 9999"},
		{strings.Replace(message, "msg_4", "msg_9223372036854775808", 1), `line 1: id: must be msg_ and a number above 0`},
		{strings.Replace(end, `"lastMessage":0`, `"lastMessage":9223372036854775808`, 1), "line 1: end/lastMessage: must have the form that it has in an export"},
		{"{}", kinds},
		{pet[:len(pet)-2] + "," + message[1:], "line 1: must be one JSON object on each line: duplicate object member name"},
		{strings.Replace(message, "{", `{"categoryId":1,`, 1), kinds},
		{strings.Replace(outcome, "{", `{"message":"a",`, 1), kinds},
		{strings.Replace(outcome, "{", `{"id":1,`, 1), kinds},
		{pet[:len(pet)-2] + "," + outcome[1:], kinds},
		{`{"id":1,"name":"a"}`, "line 1: categoryId: is missing"},
		{strings.Replace(message, "queued", "sent", 1), `line 1: status: must be "queued"`},
		{`{"id":1,"categoryId":1,"nme":"a"}`, `line 1: no record has the member "nme"`},
		{pet + strings.Replace(pet, `"a"`, `"`+strings.Repeat("a", 64<<10+1)+`"`, 1), "line 2: name: must have at most 65536 bytes, got 65537"},
		{pet + strings.Replace(pet, `"a"`, `"`+strings.Repeat("a", 1<<20)+`"`, 1), "line 2: must have at most 458752 bytes"},
		{`{"id":1,"name":"a","categoryId":1,"status":"lost"}`, "line 1: status: must be one of available, pending, sold"},
		{strings.Replace(pet, `"id":1,`, "", 1), `line 1: id: is missing; docs/operations.md shows how to number pets`},
		{strings.Replace(pet, `1`, "0", 1), `line 1: id: must be above 0, the highest one before it, got 0`},
		{pet + pet, `line 2: id: must be above 1, the highest one before it, got 1`},
		{message + message, `line 2: id: must be msg_ and a number above 4, the highest one before it`},
		{strings.Replace(outcome, `"pet":1`, `"pet":-5`, 1), "line 1: outcome: must have the ID of a pet or the number of a message"},
		{strings.Replace(outcome, `"pet":1,`, `"pet":1,"message":1,`, 1), "line 1: outcome: must have the ID of a pet or the number of a message"},
		{strings.Replace(outcome, `"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=",`, "", 1), "line 1: outcome: must have a key, above that of the outcome before it"},
		{outcome + outcome, "line 2: outcome: must have a key, above that of the outcome before it"},
		{outcome + end, "line 2: end: it counts 0 pets, 0 messages and 0 outcomes, but there are 0, 0 and 1"},
		{strings.Replace(withEnd(pet, 1, 0), `"name":"a"`, `"name":"b"`, 1), "line 2: end: the lines before it were changed: they fail its checksum"},
		{"\x1f\x8b", "line 1: unexpected EOF"},
		{end + pet, "line 2: there is more after the end"},
	} {
		_, err := storage.Import(t.Context(), path, strings.NewReader(c.lines))
		if !errors.Is(err, storage.ErrMalformed) || !strings.HasPrefix(err.Error(), storage.ErrMalformed.Error()+": "+c.want) {
			t.Errorf("%.1000s\nthe import returned %v, want %s", c.lines, err, c.want)
		}
	}
	for _, id := range []string{"9223372036854775808", "1e5", "1.0", `"1"`, "null"} {
		_, err := storage.Import(t.Context(), path, strings.NewReader(withEnd(strings.Replace(pet, "1", id, 1), 1, 0)))
		if want := "line 1: id: must be a 64-bit integer, without fraction or exponent, got " + id; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("the import returned %v, want %s", err, want)
		}
	}
	unread := &fs.PathError{Op: "read", Path: path, Err: errors.New("unread")}
	if _, err := storage.Import(t.Context(), path, io.MultiReader(strings.NewReader(pet), iotest.ErrReader(unread))); !errors.Is(err, unread) || errors.Is(err, storage.ErrMalformed) {
		t.Errorf("of a reader that fails, the import returned %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := storage.Import(ctx, path, strings.NewReader(pet+strings.Replace(end, "0", "1", 1))); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	wantFiles(t, filepath.Dir(path))
	for _, content := range [][]byte{small(t).file, nil} {
		process.WriteFile(t, path, content)
		_, err := storage.Import(t.Context(), path, strings.NewReader(end))
		if !errors.Is(err, fs.ErrExist) || !bytes.Equal(process.ReadFile(t, path), content) {
			t.Errorf("where a file is, the import returned %v", err)
		}
	}
	wantFiles(t, filepath.Dir(path), "pets.db")
}
