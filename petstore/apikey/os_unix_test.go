//go:build !windows

package apikey

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A key added by root must not take the file from the server's user.
func TestChangesKeepOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(t.TempDir(), "test.keys")
	write(t, path, header)
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skip(err)
	}
	if _, _, err := Create(path, "alice", 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".lock"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 {
			t.Errorf("%s belongs to %d:%d", filepath.Base(p), st.Uid, st.Gid)
		}
	}
}

// A limit on the size of files makes writing fail as a full disk does. It is far
// above the size of other files that this process writes meanwhile, such as the
// log of go test.
func TestFullDisk(t *testing.T) {
	const limit = 1 << 20
	dir := t.TempDir()
	path := filepath.Join(dir, "test.keys")
	write(t, path, header+strings.Repeat("# a comment\n", limit/12+1))
	before := tree(t, dir)
	before[path+".lock"] = ""
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
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	wantError(t, err, path+": not changed", "file too large")
	wantTree(t, dir, before)
}
