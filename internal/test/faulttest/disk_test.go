//go:build linux

package faulttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/history"
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

// TestDiskFull fills the disk of the server at many points of a commit. The
// change must be refused with 507; reads, and changes when there is room again,
// must succeed without a restart.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir := mount(t, "size=40m,mode=700")
	filler := filepath.Join(dir, "filler")
	s := start(t, dir)
	h := history.New()
	send := func(req history.Request) int {
		status, _ := h.Do(context.Background(), s.Client, s.URL, s.Key, req)
		return status
	}
	// create sends another pet, which takes many pages.
	pets := 0
	create := func() int {
		pets++
		return send(history.Request{Create: fmt.Sprint(pets, strings.Repeat(" long", 4000))})
	}
	want := func(what string, status, got int) {
		t.Helper()
		if got != status {
			t.Fatalf("%s: status %d, want %d", what, got, status)
		}
	}
	want("at first", http.StatusCreated, create())
	for round := range n {
		what := fmt.Sprint("round ", round)
		room := max(0, space(t, dir)-random.IntN(40)*4096)
		process.WriteFile(t, filler, make([]byte, room))
		status := create()
		for status == http.StatusCreated && pets < 10_000 {
			status = create()
		}
		want(what, http.StatusInsufficientStorage, status)
		want(what, http.StatusOK, send(history.Request{Get: 1}))
		want(what, http.StatusOK, send(history.Request{Limit: 1, Sold: true}))
		if err := syscall.Unlink(filler); err != nil {
			t.Fatal(err)
		}
		// A child of another test may have the filler open until it executes its own program.
		s.Until("there is space again", func() bool { return space(t, dir) >= room/2 })
		want(what+", with room again", http.StatusCreated, create())
	}
	s.Stop()
	check(t, "after the last round", database(s), h, 0)
	t.Logf("%d times full, %d pets acknowledged", n, h.Acknowledged())
}
