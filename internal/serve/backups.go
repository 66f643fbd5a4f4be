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

	"example.com/animalstore/internal/files"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/storage"
)

// The folder of -backup-dir has an export for each backup, whose name is the time when it
// was begun, and one copy of the key file. What is not whole has a name that ends in .part.
const (
	backupName = "petstore-20060102T150405.000Z.jsonl.gz"
	backupKeys = "backup.keys"
)

// backups returns the names of the backups in dir, the newest last, and when that was begun. It
// ignores a name later than now: the clock is or was wrong.
func backups(dir string, now time.Time) (names []string, newest time.Time, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if began, err := time.Parse(backupName, e.Name()); err == nil && !began.After(now) {
			names, newest = append(names, e.Name()), began
		}
	}
	return names, newest, err
}

// backUp makes backups until ctx ends. The first is due when the newest that is there is
// old enough, so restarts neither delay nor multiply them.
func (s *server) backUp(ctx context.Context) {
	_, newest, _ := backups(s.backupDir, time.Now())
	if !newest.IsZero() {
		s.lastBackup.Store(&newest)
	}
	for due := newest.Add(s.backupEvery); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		began := time.Now()
		due = began.Add(s.backupEvery)
		err := s.makeBackup(ctx, began)
		if err == nil {
			s.lastBackup.Store(&began)
		} else if ctx.Err() == nil {
			s.log.Error("a backup failed", "backup-dir", s.backupDir, "err", err, "next", due.UTC().Format(time.RFC3339))
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
		ours := strings.HasPrefix(e.Name(), "petstore-") || strings.HasPrefix(e.Name(), backupKeys)
		if ours && strings.HasSuffix(e.Name(), ".part") { // of a server that was killed
			_ = os.Remove(path(e.Name()))
		}
	}
	keysErr := copyKeys(path(backupKeys+".part"), s.keyFile)
	if keysErr == nil {
		keysErr = os.Rename(path(backupKeys+".part"), path(backupKeys))
	}
	if keysErr != nil {
		keysErr = fmt.Errorf("the copy of the keys stays as it was: -keys: %w", keysErr)
	}
	err = storage.CreateExportFile(path(began.UTC().Format(backupName)), func(w io.Writer) error { return s.store.Export(ctx, w) })
	if err != nil {
		return errors.Join(err, keysErr)
	}
	names, _, err := backups(s.backupDir, began)
	for ; uint(len(names)) > s.backupKeep; names = names[1:] {
		err = errors.Join(err, os.Remove(path(names[0])))
	}
	return errors.Join(err, keysErr)
}

// copyKeys copies the well-formed key file at from to a new file at path, whole or not at
// all.
func copyKeys(path, from string) error {
	return files.Create(path, func(temp *os.File) error {
		_, err := apikey.List(from)
		if err != nil {
			return err
		}
		contents, err := os.ReadFile(from)
		if err == nil {
			_, err = temp.Write(contents)
		}
		return err
	})
}
