package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// newPets returns n pets.
func newPets(n int) (pets []petstore.NewPet) {
	for i := range n {
		p := petstore.NewPet{Name: fmt.Sprint("pet ", i), CategoryID: int64(i) - 5}
		if i%4 > 0 {
			p.Status = petstore.Statuses()[i%4-1]
		}
		if i%100 == 7 {
			p.Name = strings.Repeat("long \x01", 1000)
		}
		pets = append(pets, p)
	}
	return pets
}

// file creates a file of refserver with n pets and three messages, the first and
// the last of which were removed from the queue.
func file(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "petstore.db")
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Load(t.Context(), slices.Values(newPets(n))); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveMessages(t.Context(), "msg_1", "msg_3"); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImport(t *testing.T) {
	const n = 3000
	url, from := newMember(t).URL, file(t, n)
	run := func(prefix string, wantCode int, want string, args ...string) {
		t.Helper()
		code, stdout, stderr := process.Run(t, command(t, append([]string{"import", "-new-store", "-etcd=" + url, "-etcd-prefix=" + prefix}, args...)...))
		if code != wantCode || !strings.Contains(stdout+stderr, want) {
			t.Errorf("import %v: code %d\n%s%s\nwant %d and %q", args, code, stdout, stderr, wantCode, want)
		}
		if code != 0 && strings.Count(stderr, "\n") != 1 {
			t.Errorf("the error is not one line:\n%s", stderr)
		}
	}
	open := func(prefix string) *etcdstore.Store {
		t.Helper()
		s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{url}, Prefix: prefix, NewStore: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	run("a/", 2, "import needs -from")
	run("a/", 1, "no such file", "-from=nothing.db")

	// An interrupted import can be continued.
	s := open("a/")
	var first []petstore.Pet
	for i, p := range newPets(1234) {
		first = append(first, petstore.Pet{ID: int64(i) + 1, NewPet: p})
	}
	if err := s.ImportPets(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	done := fmt.Sprintf("copied and compared; pets: %d; queued messages: 1\nIdempotency keys are not copied", n)
	run("a/", 0, "pets that the cluster already holds: 1234 of 3000", "-from="+from)
	run("a/", 0, done, "-from="+from)
	messages, err := s.QueuedMessages(t.Context(), 10)
	if err != nil || len(messages) != 1 || messages[0].ID != "msg_2" || messages[0].Text != "second" {
		t.Errorf("the queue: %+v, %v", messages, err)
	}
	if m, err := s.SubmitMessage(t.Context(), "next", petstore.Once{}); err != nil || m.ID != "msg_4" {
		t.Errorf("the next message: %+v, %v", m, err)
	}

	run("a/", 1, "the cluster holds other messages than the file: see the ID 4", "-from="+from)
	if err := s.RemoveMessages(t.Context(), "msg_2", "msg_4"); err != nil {
		t.Fatal(err)
	}
	run("a/", 1, `the message "msg_2" does not follow the last one, 4`, "-from="+from)

	// An import adds nothing to a cluster that holds other pets.
	other := open("b/")
	if _, err := other.CreatePet(t.Context(), petstore.NewPet{Name: "another"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	run("b/", 1, "the cluster holds other pets than the file", "-from="+from)
	if stats, err := other.Stats(t.Context()); err != nil || stats.Pets != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	// A cluster to which pets were added after the import is no longer a copy.
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "later"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	run("a/", 1, "the cluster holds other pets than the file: see the ID 3001", "-from="+from)

	// An import adds nothing to a cluster that holds other messages, or has held
	// some, even if it holds no pets.
	others := open("messages/")
	for range 2 {
		if _, err := others.SubmitMessage(t.Context(), "another", petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	run("messages/", 1, "the cluster holds other messages than the file: see the ID 2", "-from="+from)
	if err := others.RemoveMessages(t.Context(), "msg_1", "msg_2"); err != nil {
		t.Fatal(err)
	}
	run("messages/", 1, `the message "msg_2" does not follow the last one, 2`, "-from="+from)
	if stats, err := others.Stats(t.Context()); err != nil || stats != (petstore.Stats{}) {
		t.Errorf("%+v, %v", stats, err)
	}
}
