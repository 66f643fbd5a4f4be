package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// exported returns the export of the store at path, which must be sound.
func exported(t testing.TB, path string) string {
	t.Helper()
	mustCheck(t, path)
	var b strings.Builder
	if err := storage.Export(path, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withEnd returns lines with that of their end.
func withEnd(lines string, lastPet, lastMessage int64) string {
	sum := crc32.Checksum([]byte(strings.ReplaceAll(lines, "\n", "")), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf(`%s{"end":{"pets":%d,"messages":%d,"outcomes":%d,"lastPet":%d,"lastMessage":%d,"crc32c":%d}}`+"\n", lines,
		strings.Count(lines, `"name":`), strings.Count(lines, `"message":"`), strings.Count(lines, `{"outcome":`), lastPet, lastMessage, sum)
}

// salvaged returns what can be saved of the store at path, and the damage that was skipped.
func salvaged(t testing.TB, path string) (export string, damages []string) {
	t.Helper()
	var b strings.Builder
	x, err := storage.Salvage(path, &b, func(err error) { damages = append(damages, err.Error()) })
	export = b.String()
	if pets, messages := strings.Count(export, `"name":`), strings.Count(export, `"message":"`); err != nil || x != (storage.Totals{Pets: int64(pets), Messages: int64(messages)}) {
		t.Errorf("%d pets and %d messages were saved: %+v, %v", pets, messages, x, err)
	}
	return export, damages
}

// TestSalvage: of a damaged file everything is saved that is sound, also between damaged
// pages, and can be imported.
func TestSalvage(t *testing.T) {
	d := deep(t)
	root := rootPage(d.file)
	leaves := slices.DeleteFunc(pagesOf(d.file, leafPage), func(page int) bool { return page == root })
	// Pets without a status are in the table of all pets only.
	records := regexp.MustCompile(`{"id":\d+,"name":"pet \d+","categoryId":\d+}|(message \d+){7}`)
	onPages := func(from, step int) (texts []string) {
		for ; from < len(leaves); from += step {
			texts = append(texts, records.FindAllString(string(pageOf(d.file, leaves[from])), -1)...)
		}
		return texts
	}
	everyOther := func(change func(page []byte)) func([]byte) {
		return func(file []byte) {
			for i := 0; i < len(leaves); i += 2 {
				change(pageOf(file, leaves[i]))
			}
		}
	}
	all, odd := onPages(0, 1), onPages(1, 2)
	for _, c := range []struct {
		name, says string
		damage     func(file []byte)
		saved      []string
	}{
		{"nothing", "", func([]byte) {}, all},
		{"a pet", "fails its checksum", func(file []byte) { file[bytes.Index(file, []byte(`"name":"pet 4003"`))] ^= 1 }, nil},
		{"zeros", "header is of another page", everyOther(func(page []byte) { clear(page) }), odd},
		{"kinds of pages", "is not one of a table", everyOther(func(page []byte) { page[8] ^= 4 }), odd},
		{"places of records", "is not in it", everyOther(func(page []byte) { page[16+6] ^= 1 }), odd},
		{"a page twice", "is out of order", func(file []byte) {
			for _, branch := range pagesOf(d.file, branchPage) {
				elements := pageOf(file, branch)[16:]
				copy(elements[16+8:32], elements[8:16])
			}
		}, nil},
		{"the state", "checksum", func(file []byte) { page := pageOf(file, root); page[bytes.Index(page, []byte("state\x00"))+20] ^= 1 }, all},
		{"the freelist", "freelist", func(file []byte) { pageOf(file, pagesOf(file, freelistPage)[0])[8] ^= 0x20 }, all},
		{"a meta page", "meta page", func(file []byte) { file[(1-newerMeta(d.file))*pageSize+60] ^= 1 }, all},
		{"the newer meta page", "meta page", func(file []byte) { file[newerMeta(d.file)*pageSize+60] ^= 1 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, again := dbPath(t), dbPath(t)
			file := bytes.Clone(d.file)
			c.damage(file)
			process.WriteFile(t, path, file)
			got, damages := salvaged(t, path)
			if (len(damages) > 0) != (c.says != "") || !strings.Contains(strings.Join(damages, "\n"), c.says) {
				t.Errorf("reported %q, want %q", damages, c.says)
			}
			has := map[string]bool{}
			for _, text := range records.FindAllString(got, -1) {
				has[text] = true
			}
			for _, text := range c.saved {
				if !has[text] {
					t.Errorf("%.60s is not saved", text)
				}
			}
			var export strings.Builder
			if err := storage.Export(path, &export); errors.Is(err, storage.ErrDamaged) != (c.says != "") {
				t.Errorf("the export returned %v", err)
			}
			if strings.Contains(export.String(), `{"end":`) != (c.says == "") {
				t.Error("an export has an end only if it is whole")
			}
			if _, err := storage.Import(t.Context(), again, strings.NewReader(got)); err != nil || exported(t, again) != got {
				t.Errorf("the import returned %v", err)
			}
			want := int64(len(d.pets) + 1) // as if nothing were damaged
			if strings.Contains(c.name, "state") || strings.Contains(c.name, "meta page") || c.name == "the freelist" {
				want += 1024
			}
			if pet, err := open(t, again).CreatePet(t.Context(), petOf(0), petstore.IdempotencyKey{}); err != nil || pet.ID > want || pet.ID <= int64(len(d.pets)) {
				t.Errorf("the next pet is %d (%v), want %d, or less if the last pets are lost", pet.ID, err, want)
			}
		})
	}
}

// TestExportInUse exports a store while clients create pets and messages, with idempotency
// keys, repeat creations and remove messages. The export has exactly the pets and outcomes of
// the moment when it began, and the store that is made of it remembers them.
func TestExportInUse(t *testing.T) {
	s := open(t, dbPath(t))
	s.NoSync()
	const early, messages = 100, 60 // what is created before
	create := func(s *storage.Store, n int) petstore.Pet {
		t.Helper()
		p := petOf(n)
		p.Name = strings.Repeat(p.Name, 5000)
		pet, err := s.CreatePet(t.Context(), p, keyOf(n))
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
		if parts%2 == 0 {
			removed++
			if err := s.RemoveMessages(t.Context(), queued[messages-removed].ID); err != nil {
				t.Error(err)
			}
		}
		parts++
		late += 30
		return export.Write(part)
	}))
	if err != nil || parts < 4 {
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
		process.WriteFile(t, path, small(t).file)
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
	process.WriteFile(t, db, d.file)
	export := func(w io.Writer) error { return storage.Export(db, w) }
	for _, name := range []string{"a.jsonl", "a.jsonl.gz"} {
		path := filepath.Join(dir, name)
		for _, want := range []error{nil, fs.ErrExist} {
			if err := storage.CreateExportFile(path, export); !errors.Is(err, want) {
				t.Errorf("CreateExportFile returned %v, want %v", err, want)
			}
		}
		whole := process.ReadFile(t, path)
		wrong := [][]byte{whole[:len(whole)-1], whole[:len(whole)-9], whole[:len(whole)/2]}
		for at := 0; at < len(whole); at += len(whole) / 25 {
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
	failing := func(io.Writer) error { return io.ErrNoProgress }
	if err := storage.CreateExportFile(filepath.Join(dir, "b"), failing); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("CreateExportFile returned %v", err)
	}
	wantFiles(t, dir, "a.jsonl", "a.jsonl.gz")
}
