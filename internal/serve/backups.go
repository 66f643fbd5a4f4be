package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/storage"
)

// The folder of -backup-dir has an export for each backup, whose name is the time when it
// was begun, and one copy of the key file. What is not whole has a name that ends in .part.
const (
	backupName = "petstore-20060102T150405.000Z.jsonl.gz"
	backupKeys = "backup.keys"
)

// backups returns the names of the backups in dir, the newest last.
func backups(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if _, err := time.Parse(backupName, e.Name()); err == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// newestBackup returns the time in the name of the newest backup; zero: none can be found.
func (c *config) newestBackup() (began time.Time) {
	names, _ := backups(c.backupDir)
	if len(names) > 0 {
		began, _ = time.Parse(backupName, names[len(names)-1])
	}
	return began
}

// backUp makes backups until ctx ends. The first is due when the newest that is there is
// old enough, so restarts neither delay nor multiply them. If that has a name from the
// future, the clock was wrong, and the first is due at once.
func (s *server) backUp(ctx context.Context) {
	newest := s.newestBackup()
	if newest.After(time.Now()) {
		newest = time.Time{}
	}
	s.lastBackup.Store(&newest)
	for due := newest.Add(s.backupEvery); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		began := time.Now()
		due = began.Add(s.backupEvery)
		err := s.makeBackup(ctx, began)
		s.backupFailed.Store(err != nil)
		switch next := due.UTC().Format(time.RFC3339); {
		case err == nil:
			s.lastBackup.Store(&began)
			s.log.Info("a backup was made", "backup-dir", s.backupDir, "next", next)
		case ctx.Err() == nil:
			s.log.Error("a backup failed", "backup-dir", s.backupDir, "err", err, "next", next)
		}
	}
}

// makeBackup makes a backup, whole or not at all, and removes old ones. If the key file is
// malformed or cannot be read, its copy stays as it is, and the error says so.
func (s *server) makeBackup(ctx context.Context, began time.Time) error {
	path := func(name string) string { return filepath.Join(s.backupDir, name) }
	entries, err := os.ReadDir(s.backupDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isPart(e.Name()) {
			_ = os.Remove(path(e.Name())) // of a server that was killed
		}
	}
	if newest := s.newestBackup(); !began.After(newest) { // the clock was wrong: the new name must be the last
		began = newest.Add(time.Millisecond)
	}
	keysErr := s.saveKeys(path(backupKeys))
	err = storage.CreateExportFile(path(began.UTC().Format(backupName)), func(w io.Writer) error {
		return s.store.File.Export(ctx, w)
	})
	if err != nil {
		return errors.Join(err, keysErr)
	}
	names, err := backups(s.backupDir)
	for ; len(names) > s.backupKeep; names = names[1:] {
		err = errors.Join(err, os.Remove(path(names[0])))
	}
	return errors.Join(err, keysErr)
}

// isPart reports whether a file in the folder of backups is what a backup has begun.
func isPart(name string) bool {
	begun, isPart := strings.CutSuffix(name, ".part")
	if !isPart {
		return false
	}
	begun = strings.TrimRight(begun, "0123456789.") // the random number of a temporary file
	_, err := time.Parse(backupName, begun)
	return err == nil || begun == backupKeys || begun == backupKeys+".part"
}

// saveKeys makes the file at path a copy of the key file.
func (s *server) saveKeys(path string) error {
	part := path + ".part"
	if err := copyKeys(part, s.keyFile); err != nil {
		return fmt.Errorf("the copy of the keys stays as it was: -keys: %w", err)
	}
	return os.Rename(part, path)
}

// copyKeys copies the well-formed key file at from to a new file at path, whole or not at
// all. The error wraps fs.ErrExist if there is a file at path.
func copyKeys(path, from string) error {
	return newfile.Create(path, func(temp *os.File) error {
		if _, err := apikey.List(from); err != nil {
			return err
		}
		contents, err := os.ReadFile(from)
		if err == nil {
			_, err = temp.Write(contents)
		}
		if err == nil {
			_, err = apikey.List(temp.Name()) // a line may have been added meanwhile
		}
		return err
	})
}
