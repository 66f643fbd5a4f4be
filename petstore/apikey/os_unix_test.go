//go:build !windows

package apikey

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A key added by root must not lock out the server, which runs as another
// user.
func TestOwnerStays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(t.TempDir(), "test.keys")
	_, a := newKey(t, "alice")
	_, b := newKey(t, "bob")
	if err := Add(path, a); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skip(err)
	}
	if err := Add(path, b); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".lock"} {
		fi, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if st := fi.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 {
			t.Errorf("%s belongs to %d:%d", filepath.Base(p), st.Uid, st.Gid)
		}
	}
}
