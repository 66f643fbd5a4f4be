//go:build unix

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestFull lets the file grow against a limit on its size, at several points
// of a commit, in a process of its own, since a process has one such limit.
func TestFull(t *testing.T) {
	if path := os.Getenv("STORAGE_TEST_FULL"); path != "" {
		if err := fillUp(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := dbPath(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestFull$", "-test.v")
	cmd.Env = append(os.Environ(), "STORAGE_TEST_FULL="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// What the process acknowledged is what the next one finds.
	s := open(t, path)
	if pet, err := s.GetPet(t.Context(), 1); err != nil || pet.Name != "first" {
		t.Errorf("the first pet is %v (%v)", pet, err)
	}
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pet, err := s.GetPet(t.Context(), stats.Pets)
	if err != nil || pet.Name != "last" {
		t.Errorf("the last pet is %.50v (%v)", pet, err)
	}
}

// limitFileSize sets how long files may become.
func limitFileSize(n uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: old.Max})
}

func fillUp(ctx context.Context, path string) error {
	s, err := storage.Open(path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	create := func(name string) error {
		_, err := s.CreatePet(ctx, petstore.NewPet{Name: name, Status: petstore.StatusSold}, petstore.Once{})
		return err
	}
	if err := create("first"); err != nil {
		return err
	}
	// Below what is there already every write fails, beyond it every growth.
	for _, limit := range []uint64{8 << 10, 30 << 10, 17 << 20, 40 << 20} {
		if err := limitFileSize(limit); err != nil {
			return err
		}
		var full error
		for i := 0; i < 100 && full == nil; i++ {
			full = create(strings.Repeat("x", 800<<10))
		}
		if petstore.CodeOf(full) != petstore.CodeFull {
			return fmt.Errorf("with files limited to %d: %v", limit, full)
		}
		if _, err := s.GetPet(ctx, 1); err != nil {
			return fmt.Errorf("reading from a full store: %w", err)
		}
		if err := limitFileSize(1 << 40); err != nil {
			return err
		}
		if err := create("there is room again"); err != nil {
			return err
		}
	}
	return errors.Join(create("last"), s.Err())
}
