//go:build !windows

package apikey

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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

// A limit on the size of files makes writing fail as a full disk does. It is for
// a whole process, so another one than that of the tests has it.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv("APIKEY_TEST_FULL"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
			t.Fatal(err)
		}
		_, _, err := Create(path, "alice", 0)
		wantError(t, err, path+": not changed", "file too large")
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "test.keys")
	write(t, path, header)
	before := tree(t, dir)
	before[path+".lock"] = ""
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), "APIKEY_TEST_FULL="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantTree(t, dir, before)
}
