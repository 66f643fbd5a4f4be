//go:build unix

package apikey

import (
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A limit on the size of files makes writing fail in the middle of a line, as a full
// disk may. It is far above the size of other files that this process writes
// meanwhile, such as the log of go test.
func TestFullDisk(t *testing.T) {
	const limit = 1 << 20
	dir := t.TempDir()
	path := filepath.Join(dir, "test.keys")
	write(t, path, header+strings.Repeat("#\n", (limit-len(header)-50)/2)+"#\n")
	before := tree(t, dir)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	_, _, err := Create(path, "alice", 0)
	limited := syscall.Rlimit{Cur: 0, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	_, _, newErr := Create(filepath.Join(dir, "new.keys"), "alice", 0)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	wantError(t, err, path, "file too large")
	wantError(t, newErr, "new.keys", "file too large")
	before[filepath.Join(dir, "new.keys")] = "" // which counts as missing
	wantTree(t, dir, before)
	if _, _, err := Create(filepath.Join(dir, "new.keys"), "alice", 0); err != nil {
		t.Error(err)
	}
}
