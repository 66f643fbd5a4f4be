//go:build linux

package faulttest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore/apikey"
)

// TestKeysDiskFull adds to a key file where a line needs another page and the disk has
// none. Nothing of the line may stay, so the keys can still be read, and changed when there
// is room again.
func TestKeysDiskFull(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64k,mode=700")
	path, filler := filepath.Join(dir, "keys"), filepath.Join(dir, "filler")
	account := strings.Repeat("x", 100)
	_, first, err := apikey.Create(path, account)
	if err != nil {
		t.Fatal(err)
	}
	line := len(process.ReadFile(t, path))
	for size := line; size%4096 < 4096-line; size += line {
		if _, _, err := apikey.Create(path, account); err != nil {
			t.Fatal(err)
		}
	}
	before := process.ReadFile(t, path)
	process.WriteFile(t, filler, make([]byte, space(t, dir)))
	if _, _, err = apikey.Create(path, account); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk Create returned %v", err)
	}
	if _, _, err = apikey.Create(filepath.Join(dir, "new"), account); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk Create of a file returned %v", err)
	}
	if after := process.ReadFile(t, path); !bytes.Equal(after, before) {
		t.Errorf("a failed Create added %q", after[len(before):])
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := apikey.Revoke(path, first.ID); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); len(files) != 1 || err != nil {
		t.Errorf("there are %v (%v)", files, err)
	}
}
