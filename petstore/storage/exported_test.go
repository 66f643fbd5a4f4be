package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

// exported returns the export of the store at path, which must be sound.
func exported(t testing.TB, path string) string {
	t.Helper()
	mustCheck(t, path)
	var b strings.Builder
	if _, err := storage.Export(path, &b, nil); err != nil {
		t.Fatal(err)
	}
	return withoutTime(b.String())
}

var exportedAt = regexp.MustCompile(`,"exportedAt":"[^"]*"`)

// withoutTime removes the moment that an export names.
func withoutTime(export string) string { return exportedAt.ReplaceAllString(export, "") }

// withEnd returns lines with that of their end.
func withEnd(lines string, lastPet, lastMessage int64) string {
	sum := crc32.Checksum([]byte(strings.ReplaceAll(lines, "\n", "")), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`%s{"end":{"pets":%d,"messages":%d,"outcomes":%d,"lastPet":%d,"lastMessage":%d,"crc32c":%d}}`+"\n", lines,
		strings.Count(lines, `"name":`), strings.Count(lines, `"message":"`), strings.Count(lines, `{"outcome":`), lastPet, lastMessage, sum)
}

// exportOf returns the lines of an export, without those that skip says.
func (d *stored) exportOf(t testing.TB, skip func(petstore.Pet) bool, skipMessage string, lastPet, lastMessage int64) string {
	t.Helper()
	var b []byte
	ids := map[string]bool{}
	for _, pet := range d.pets {
		if skip == nil || !skip(pet) {
			var err error
			if b, err = pet.AppendJSON(b); err != nil {
				t.Fatal(err)
			}
			b = append(b, '\n')
			ids[fmt.Sprintf(`"pet":%d,`, pet.ID)] = true
		}
	}
	for _, m := range d.queue {
		if m.ID != skipMessage {
			line, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, line...), '\n')
		}
	}
	path := dbPath(t)
	writeFile(t, path, d.file)
	for line := range strings.Lines(exported(t, path)) {
		if ids[regexp.MustCompile(`"pet":\d+,`).FindString(line)] {
			b = append(b, line...)
		}
	}
	return withEnd(string(b), lastPet, lastMessage)
}

// TestExportMembers: no member of a pet or a message is lost in an export and its import.
func TestExportMembers(t *testing.T) {
	pet, err := storagetest.SamplePet().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	message, err := json.Marshal(storagetest.SampleMessage())
	if err != nil {
		t.Fatal(err)
	}
	want := withEnd(string(pet)+"\n"+string(message)+"\n", 1, 1)
	path := dbPath(t)
	if _, err := storage.Import(t.Context(), path, strings.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, exported(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
	// The first block of all, whose pets have outcomes.
	first := `"name":"pet 20","categoryId":20,"status":"available"},{"id":22,`
	lostFirst := func(p petstore.Pet) bool { return p.Status == "" && p.ID < 30 }
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

		unknown bool // what was lost
	}{
		{name: "sound", file: d.file, want: d.exportOf(t, nil, "", smallPets, smallMessages)},
		{name: "a block", file: spoil(t, d.file, inBlock), says: "fails its checksum", want: d.exportOf(t, lost, "", smallPets, smallMessages)},
		{name: "a block with outcomes", file: spoil(t, d.file, first), says: "fails its checksum", want: d.exportOf(t, lostFirst, "", smallPets, smallMessages)},
		{name: "a message", file: spoil(t, d.file, "message 7"), says: "the message 8 fails its checksum", want: d.exportOf(t, nil, "msg_8", smallPets, smallMessages)},
		{name: "the state", file: d.file, edit: spoilState, unknown: true, says: `the record "state" of petstore fails its checksum`, want: d.exportOf(t, nil, "", smallPets+1024, smallMessages+1024)},
		{name: "the state and a block", file: spoil(t, d.file, lastBlock), edit: spoilState, unknown: true, says: "fails its checksum", want: d.exportOf(t, lostLast, "", 299+1024, smallMessages+1024)},
		{name: "the freelist", file: freelist, says: "freelist", want: d.exportOf(t, nil, "", smallPets, smallMessages)},
		{name: "a meta page", file: olderMeta, says: "meta page", unknown: true, want: d.exportOf(t, nil, "", smallPets+1024, smallMessages+1024)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := dbPath(t)
			writeFile(t, path, c.file)
			if c.edit != nil {
				edit(t, path, c.edit)
			}
			var out, reports strings.Builder
			x, err := storage.Export(path, &out, func(err error) { fmt.Fprintln(&reports, err) })
			if diff := cmp.Diff(c.want, withoutTime(out.String())); diff != "" || err != nil {
				t.Errorf("the export returned %v (-want +got):\n%s", err, diff)
			}
			if got := reports.String(); !strings.Contains(got, c.says) || (got == "") != (c.says == "") || strings.Contains(got, "the queue holds") {
				t.Errorf("reported %q, want %q", got, c.says)
			}
			pets, messages := int64(strings.Count(c.want, `"name":`)), int64(strings.Count(c.want, `"message":"`))
			outcomes := int64(strings.Count(c.want, `{"outcome":`))
			want := storage.Totals{Pets: pets, Messages: messages, Outcomes: outcomes}
			imported := want
			want.LostPets, want.LostMessages, want.LostOutcomes = smallPets-pets, smallMessages-messages, int64(len(smallKeys))-outcomes
			if c.unknown {
				want.LostPets, want.LostMessages = -1, -1
			}
			if c.says == "meta page" {
				want.LostOutcomes = -1
			}
			if x != want {
				t.Errorf("exported %+v, want %+v", x, want)
			}
			if _, err := storage.Export(path, &out, nil); errors.Is(err, storage.ErrDamaged) != (c.says != "") {
				t.Errorf("with nothing skipped, the export returned %v", err)
			}
			path = filepath.Join(dir, c.name)
			if got, err := storage.Import(t.Context(), path, strings.NewReader(c.want)); got != imported || err != nil {
				t.Errorf("imported %+v, %v", got, err)
			}
			if got := exported(t, path); got != c.want {
				t.Errorf("the export of the import: %s", cmp.Diff(c.want, got))
			}
		})
	}
}

// TestExportSparse skips damage between IDs that are far apart, with and without the state.
// The outcome of a lost pet is left out.
func TestExportSparse(t *testing.T) {
	var lines, outcomes strings.Builder
	key := func(n int) string { return fmt.Sprintf("%042dA", n) }
	const n = 80
	ids := []int64{}
	for i := range n { // the first ones are far apart, the others are dense, and the last is the highest ID
		id := int64(i+1) * 8554 << 40
		switch {
		case i == n-1:
			id = math.MaxInt64
		case i >= 20:
			id = ids[19] + int64(i)
		}
		ids = append(ids, id)
		fmt.Fprintf(&lines, `{"id":%d,"name":"pet number %d-","categoryId":1}`+"\n", id, i)
		fmt.Fprintf(&outcomes, `{"outcome":{"key":"%s=","value":"%[1]s=","pet":%d,"createdAt":"%s"}}`+"\n", key(i+1), id, time.Now().UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano))
	}
	path := dbPath(t)
	if _, err := storage.Import(t.Context(), path, strings.NewReader(withEnd(lines.String()+outcomes.String(), 0, 0))); err != nil {
		t.Fatal(err)
	}
	file := process.ReadFile(t, path)
	for _, state := range []bool{true, false} {
		for _, spoiled := range [][]int{{0}, {1, 45}, {30, n - 1}, {n - 1}} {
			damaged := file
			for _, i := range spoiled {
				damaged = spoil(t, damaged, fmt.Sprintf("pet number %d-", i))
			}
			writeFile(t, path, damaged)
			if !state {
				edit(t, path, spoilState)
			}
			var out bytes.Buffer
			damages := 0
			x, err := storage.Export(path, &out, func(error) { damages++ })
			if err != nil {
				t.Fatal(err)
			}
			wantDamages := len(spoiled) // each of a block
			if !state {
				wantDamages++
			}
			for i := range n {
				saved := bytes.Contains(out.Bytes(), fmt.Appendf(nil, "pet number %d-", i))
				if kept := bytes.Contains(out.Bytes(), []byte(key(i+1))); kept != saved {
					t.Errorf("state %v, %d spoiled: the pet %d was saved: %v, its outcome: %v", state, spoiled, i, saved, kept)
				}
			}
			if state && (x.Pets+x.LostPets != n || x.Outcomes+x.LostOutcomes != n) || x.Pets < int64(n-len(spoiled)*35) || damages < wantDamages || damages > wantDamages+1 {
				t.Errorf("state %v, %d spoiled: exported %+v, with %d damages", state, spoiled, x, damages)
			}
		}
	}
}

// TestExportInUse exports a store while clients create pets and messages, with idempotency
// keys, repeat creations and remove messages. The export has exactly the pets and outcomes of
// the moment when it began, and the store that is made of it remembers them.
func TestExportInUse(t *testing.T) {
	s := open(t, dbPath(t))
	const early, messages = 300, 60 // what is created before
	create := func(s *storage.Store, n int) petstore.Pet {
		t.Helper()
		pet, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
		if err != nil {
			t.Error(err)
		}
		return pet
	}
	submit := func(s *storage.Store, n int) petstore.Message {
		t.Helper()
		m, err := s.SubmitMessage(t.Context(), fmt.Sprint("message ", n), keyOf(n))
		if err != nil {
			t.Error(err)
		}
		return m
	}
	var pets []petstore.Pet
	for n := range early {
		pets = append(pets, create(s, n))
	}
	var queued []petstore.Message
	for n := range messages {
		queued = append(queued, submit(s, n))
	}
	var export bytes.Buffer
	parts, late, removed := 0, early, 0
	err := s.Export(t.Context(), writerFunc(func(part []byte) (int, error) {
		inParallel(t, late, late+30, func(n int) error {
			if create(s, n).ID <= early || submit(s, n).ID == "" || create(s, n%early) != pets[n%early] {
				return errors.New("a creation has a wrong result")
			}
			return nil
		})
		if parts++; parts%4 == 0 {
			removed++
			if err := s.RemoveMessages(t.Context(), queued[messages-removed].ID); err != nil {
				t.Error(err)
			}
		}
		late += 30
		return export.Write(part)
	}))
	if err != nil || parts < 10 {
		t.Fatalf("the export returned %v, in %d parts", err, parts)
	}
	path := dbPath(t)
	got, err := storage.Import(t.Context(), path, &export)
	if err != nil || got.Pets != early || got.Outcomes != early+messages || got.Messages > messages || got.Messages < int64(messages-removed) {
		t.Fatalf("imported %+v, %v; %d messages were removed", got, err, removed)
	}
	mustCheck(t, path)
	restored := open(t, path)
	for n, want := range pets {
		if got := create(restored, n); got != want {
			t.Errorf("a repeated creation returned %v, want %v", got, want)
		}
	}
	for n, want := range queued {
		if got := submit(restored, n); got != want {
			t.Errorf("a repeated message is %v, want %v", got, want)
		}
	}
	if got := create(restored, late); got.ID != early+1 {
		t.Errorf("the next pet has the ID %d", got.ID)
	}
	if got := submit(restored, late); got.ID != fmt.Sprint("msg_", messages+1) {
		t.Errorf("the next message is %v", got)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestExportEnds: an export of a store ends with its context, or when the store is closed.
func TestExportEnds(t *testing.T) {
	for _, closed := range []bool{false, true} {
		path := dbPath(t)
		writeFile(t, path, small(t).file)
		s := open(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Export(ctx, writerFunc(func(part []byte) (int, error) {
			if closed {
				return len(part), s.Close()
			}
			cancel()
			return len(part), nil
		}))
		if closed && petstore.CodeOf(err) != petstore.CodeUnavailable || !closed && !errors.Is(err, context.Canceled) {
			t.Errorf("closed: %v, the export returned %v", closed, err)
		}
		cancel()
	}
}

// TestCreateExportFile: a file is made whole or not at all, one that is there is kept, and an
// import refuses one that was cut or changed.
func TestCreateExportFile(t *testing.T) {
	d, dir := small(t), t.TempDir()
	db := dbPath(t)
	writeFile(t, db, d.file)
	export := func(w io.Writer) error { _, err := storage.Export(db, w, nil); return err }
	for _, name := range []string{"a.jsonl", "a.jsonl.gz"} {
		path := filepath.Join(dir, name)
		for _, want := range []error{nil, fs.ErrExist} {
			if err := storage.CreateExportFile(path, export); !errors.Is(err, want) {
				t.Errorf("CreateExportFile returned %v, want %v", err, want)
			}
		}
		whole := process.ReadFile(t, path)
		wrong := [][]byte{whole[:len(whole)-1], whole[:len(whole)-9], whole[:len(whole)/2]}
		for at := 0; at < len(whole); at += 97 {
			changed := bytes.Clone(whole)
			changed[at] ^= 4
			wrong = append(wrong, changed)
		}
		for i, b := range append(wrong, whole) {
			to := dbPath(t)
			_, err := storage.Import(t.Context(), to, bytes.NewReader(b))
			sound := i == len(wrong) || i == 0 && name == "a.jsonl" // without the end of the last line
			if sound != (err == nil) || !sound && !errors.Is(err, storage.ErrMalformed) {
				t.Errorf("%s, change %d: the import returned %v", name, i, err)
			}
			if err != nil {
				wantFiles(t, filepath.Dir(to))
			} else if got := exported(t, to); got != exported(t, db) {
				t.Errorf("%s, change %d: the store holds\n%s", name, i, got)
			}
		}
	}
	err := storage.CreateExportFile(filepath.Join(dir, "b"), func(w io.Writer) error {
		_, _ = w.Write([]byte("a"))
		return io.ErrNoProgress
	})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("CreateExportFile returned %v", err)
	}
	wantFiles(t, dir, "a.jsonl", "a.jsonl.gz")
}
