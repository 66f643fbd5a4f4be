package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestCutShort cuts a file that is open. Every call after that must return.
func TestCutShort(t *testing.T) {
	create := func(s *storage.Store) error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		return err
	}
	// What is in memory may still be read, unchanged.
	get := func(s *storage.Store) error {
		pet, err := s.GetPet(t.Context(), 1)
		if err == nil && pet.Name == "Rex" {
			return storage.ErrDamaged
		}
		return err
	}
	backup := func(s *storage.Store) error {
		_, _, err := s.Snapshot(t.Context())
		return err
	}
	for name, calls := range map[string][]func(*storage.Store) error{
		"create": {create, create, get},
		"get":    {get, get, create},
		"backup": {backup, get, create},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pets.db")
			makeStore(t, path)
			s := open(t, path)
			if err := os.WriteFile(path, make([]byte, 2*pageSize), 0o600); err != nil {
				t.Fatal(err)
			}
			ended := make(chan bool)
			go func() {
				defer close(ended)
				for _, call := range calls {
					if err := call(s); petstore.CodeOf(err) != petstore.CodeUnavailable && !errors.Is(err, storage.ErrDamaged) {
						t.Errorf("a call returned %v", err)
					}
				}
				if err := s.Close(); err == nil {
					t.Error("Close returned no error")
				}
			}()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("it does not end")
			}
			select {
			case <-s.Failed():
			default:
				t.Error("the store has not failed")
			}
		})
	}
}

// cutter cuts a file short when the 50th line is written to it.
type cutter struct {
	path  string
	lines int
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.lines++; c.lines == 50 {
		return len(b), os.Truncate(c.path, 3*pageSize)
	}
	return len(b), nil
}

// TestExportCutShort cuts a file that is being exported.
func TestExportCutShort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is mapped cannot be cut short")
	}
	path := filepath.Join(t.TempDir(), "pets.db")
	writeFile(t, path, small(t).file)
	_, err := storage.Export(path, &cutter{path: path}, nil)
	if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "cut short while it was read") {
		t.Errorf("the export returned %v", err)
	}
}
