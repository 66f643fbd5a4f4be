//go:build unix

package apikey

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A limit on the size of files makes writing fail in the middle of a line, as a full
// disk may. The limit holds for a whole process, so the test has one of its own.
func TestFullDisk(t *testing.T) {
	path, limit := os.Getenv("APIKEY_TEST_FULL"), 120
	if path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(limit), Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		_, _, err := Create(path, "alice")
		wantError(t, err, path, "file too large")
		return
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "test.keys")
	write(t, path, header+strings.Repeat("#", limit-len(header)-20)+"\n")
	fresh := filepath.Join(dir, "new.keys")
	before := tree(t, dir)
	for _, path := range []string{path, fresh} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
		cmd.Env = append(os.Environ(), "APIKEY_TEST_FULL="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	before[fresh] = "" // which counts as missing
	wantTree(t, dir, before)
	if _, _, err := Create(fresh, "alice"); err != nil {
		t.Error(err)
	}
}
