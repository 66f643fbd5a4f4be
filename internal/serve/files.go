package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/animalstore/internal/version"
)

// missing reports whether there is nothing at path. A symbolic link to a file
// that does not exist is not missing: that file may be lost.
func missing(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// mayMake reports whether the store, and then the key file, may be made: on a
// first start, when both are missing, or with -new-store. It returns an error
// if the server must not start, since the store seems lost or since the flags
// do not fit.
func (p *Program) mayMake(c *config) (bool, error) {
	if p.StoreFile == nil {
		return true, nil
	}
	store, err := filepath.Abs(p.StoreFile())
	if err != nil {
		return false, err
	}
	// Look for the keys first: another server that starts now makes them after
	// the store, and its store must not seem lost.
	noKeys, err := missing(c.keys)
	if err != nil {
		return false, fmt.Errorf("-keys: %w", err)
	}
	noStore, err := missing(store)
	switch {
	case err != nil:
		return false, fmt.Errorf("-db: %w", err)
	case noStore && c.mustExist:
		return false, fmt.Errorf("-must-exist: there is no store %s; check -db, and that its volume is mounted", store)
	case noStore && !noKeys && !c.newStore:
		return false, fmt.Errorf("there is no store %s, but there is a key file; check -db, and that its volume is mounted; -new-store makes an empty store", store)
	case !noStore && c.newStore:
		return false, fmt.Errorf("-new-store: there is a store %s; start without -new-store to use it", store)
	}
	return noStore, nil
}

// about returns the attributes of the log line "serving" that describe the
// store and the program.
func (s *server) about() []any {
	built := []any{"version", version.String()}
	f := s.store.File
	if f == nil {
		return built
	}
	state := "existing"
	if f.New {
		state = "new"
	}
	return append([]any{"store", state, "file", f.Path, "pets", f.Pets, "schema", f.Schema}, built...)
}
