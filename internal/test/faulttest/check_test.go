//go:build linux

package faulttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// checkFile checks, as check does, the store in a directory that has only a file with that
// name and content.
func checkFile(t *testing.T, what, name string, content []byte, h *history.History, extra int) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	process.WriteFile(t, filepath.Join(dir, name), bytes.TrimRight(content, "\x00"))
	if err := os.Truncate(filepath.Join(dir, name), int64(len(content))); err != nil { // most of a file is zeros at its end
		t.Fatal(err)
	}
	check(t, what, filepath.Join(dir, "petstore.db"), h, extra)
}

// check compares the store at path with the history of its clients. The store must have
// everything that was acknowledged, and at most that many other pets and messages, of
// requests without a response. Then it must accept changes, and be sound after them: check
// removes all messages and adds pets.
func check(t *testing.T, what, path string, h *history.History, extra int) {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %.1000v", what, err) // some names are long
		}
	}
	pets, err := history.Pets(t.Context(), s)
	fail(err)
	var messages []petstore.Message
	for {
		oldest, err := s.QueuedMessages(t.Context(), petstore.MaxQueueLimit)
		fail(err)
		if len(oldest) == 0 {
			break
		}
		messages = append(messages, oldest...)
		var ids []string
		for _, m := range oldest {
			ids = append(ids, m.ID)
		}
		if err := s.RemoveMessages(t.Context(), ids...); err != nil {
			fail(err)
			break
		}
	}
	fail(h.Check(pets, messages))
	if stored, acknowledged := len(pets)+len(messages), h.Acknowledged(); stored > acknowledged+extra {
		t.Errorf("%s: %d pets and messages are stored, %d were acknowledged; want at most %d others", what, stored, acknowledged, extra)
	}
	for range 2 { // one for each meta page
		_, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "later", CategoryID: 1}, petstore.IdempotencyKey{})
		fail(err)
	}
	fail(s.Close())
	fail(storage.Check(path, nil))
}
