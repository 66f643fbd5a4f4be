//go:build linux

package faulttest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

const (
	patience  = process.Patience
	refserver = "example.com/animalstore/cmd/refserver"
)

// start starts a reference server in dir and waits until it serves.
func start(t *testing.T, dir string, flags ...string) *process.Server {
	t.Helper()
	return process.Serve(t, process.Command(dir, serverArgs(t, flags...)...))
}

// serverArgs returns the command line of a reference server.
func serverArgs(t *testing.T, flags ...string) []string {
	return append([]string{process.Build(t, refserver), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0"}, flags...)
}

// database returns the path of a server's store.
func database(s *process.Server) string { return s.Path("petstore.db") }

// checkCopy checks a copy of a server's store, as check does.
func checkCopy(t *testing.T, what string, s *process.Server, h *history.History, extra int) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "petstore.db")
	process.WriteFile(t, path, process.ReadFile(t, database(s)))
	check(t, what, path, h, extra)
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
			t.Errorf("%s: %v", what, err)
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
	fail(storage.Check(path))
}

// mount mounts a file system in memory at a new directory.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("this needs permission to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// space returns the bytes that are free on a file system.
func space(t *testing.T, dir string) int {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Bavail) * int(st.Bsize)
}
