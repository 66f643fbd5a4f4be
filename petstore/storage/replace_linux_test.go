package storage

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestReplaceTwice replaces a file twice at a time. The second replacement has
// opened the file before the first one is done. It must not lose what the first
// one wrote.
func TestReplaceTwice(t *testing.T) {
	defer func(d time.Duration) { lockTimeout = d }(lockTimeout)
	lockTimeout = 10 * time.Minute
	path := filepath.Join(t.TempDir(), "pets.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	add := func(temp, old *os.File) error {
		b, err := io.ReadAll(old)
		if err != nil {
			return err
		}
		_, err = temp.Write(append(b, '+'))
		return err
	}
	second := make(chan error, 1)
	err := replace(path, func(temp, old *os.File) error {
		go func() { second <- replace(path, add) }()
		for opened(t, path) < 2 {
			time.Sleep(time.Millisecond)
		}
		return add(temp, old)
	})
	if err2 := <-second; err != nil || !errors.Is(err2, ErrLocked) {
		t.Errorf("the replacements returned %v and %v, want no error and ErrLocked", err, err2)
	}
	if b, err := os.ReadFile(path); string(b) != "+" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
}

// opened returns how often this process has the file open.
func opened(t *testing.T, path string) (n int) {
	t.Helper()
	const fds = "/proc/self/fd"
	entries, err := os.ReadDir(fds)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && target == path {
			n++
		}
	}
	return n
}

// TestReplaceKeepsOwner: what root restores or imports can be opened by the server's
// user.
func TestReplaceKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "pets.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 1234, 5678)); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, func(temp, old *os.File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 1234 || s.Gid != 5678 {
		t.Errorf("the new file belongs to %d:%d", s.Uid, s.Gid)
	}
}
