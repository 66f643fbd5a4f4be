package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/petstore"
)

// A full disk refuses changes with CodeFull. Reads go on, and changes too once there
// is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	server := postgres.Run(t, "fsync=off")
	var data string
	if err := connect(t, server.URL).QueryRow(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	owner, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(data), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=30m,mode=700,uid=%d", owner.Sys().(*syscall.Stat_t).Uid)); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("the test needs permission to mount: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	execute(t, server.URL, "CREATE TABLESPACE small LOCATION '"+dir+"'", "CREATE DATABASE small TABLESPACE small")
	s := open(t, strings.Replace(server.URL, "/postgres?", "/small?", 1), nil)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	name := make([]byte, 32<<10)
	rand.Read(name)
	pet := petstore.NewPet{Name: hex.EncodeToString(name)} // PostgreSQL would compress a text that repeats itself
	last := int64(0)
	for err == nil {
		var p petstore.Pet
		if p, err = s.CreatePet(t.Context(), pet, petstore.IdempotencyKey{}); err == nil {
			last = p.ID
		}
	}
	if petstore.CodeOf(err) != petstore.CodeInsufficientStorage {
		t.Fatalf("after %d pets: %v", last, err)
	}
	if _, err := s.GetPet(t.Context(), last); err != nil {
		t.Error(err)
	}
	if _, err := s.GetPet(t.Context(), last+1); !errors.Is(err, petstore.ErrNotFound) {
		t.Error(err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if p, err := s.CreatePet(t.Context(), pet, petstore.IdempotencyKey{}); err != nil || p.ID != last+1 {
		t.Errorf("with room again: %d (%v), want %d", p.ID, err, last+1)
	}
}
