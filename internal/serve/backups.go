package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/apikey"
)

// A backup is a folder in -backup-dir with these two files. Its name is the time when it
// was begun. While it is made or removed, it has another name.
const (
	BackupStore = "petstore.db"
	BackupKeys  = "petstore.keys"
	backupName  = "20060102T150405.000Z"
	partName    = ".part"
)

// Backups returns the names of the backups in dir, the newest last.
func Backups(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if _, err := time.Parse(backupName, e.Name()); err == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// newestBackup returns when the newest backup was begun; zero: none can be found.
func (c *config) newestBackup() (began time.Time) {
	names, _ := Backups(c.backupDir)
	if len(names) > 0 {
		began, _ = time.Parse(backupName, names[len(names)-1])
	}
	return began
}

// backUp makes backups until ctx ends. The first is due when the newest that is there is
// old enough, so restarts neither delay nor multiply them.
func (s *server) backUp(ctx context.Context) {
	for last := s.newestBackup(); ; {
		wait := min(time.Until(last.Add(s.backupEvery)), s.backupEvery) // the clock may have been set back
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		last = time.Now()
		err := s.makeBackup(ctx, last)
		s.backupFailed.Store(err != nil)
		if err != nil && ctx.Err() == nil {
			s.log.Error("a backup failed", "backup-dir", s.backupDir, "err", err, "next", last.Add(s.backupEvery).UTC().Format(time.RFC3339))
		}
	}
}

// makeBackup makes a backup, whole or not at all, and removes old ones. If the key file is
// malformed or cannot be read, the backup has the keys of the one before, so that no key is
// lost when the older ones are removed. The error then says so.
func (s *server) makeBackup(ctx context.Context, began time.Time) error {
	path := func(name string) string { return filepath.Join(s.backupDir, name) }
	newest := s.newestBackup()
	if !began.After(newest) { // the clock was set back: the new name must be the last
		began = newest.Add(time.Millisecond)
	}
	part := path(partName)
	if err := os.RemoveAll(part); err != nil { // of a server that was killed
		return err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(part)
	keys := filepath.Join(part, BackupKeys)
	keysErr := CopyKeys(keys, s.keyFile)
	if keysErr != nil {
		keysErr = fmt.Errorf("its keys are those of the backup before: -keys: %w", keysErr)
		_ = CopyKeys(keys, filepath.Join(path(newest.UTC().Format(backupName)), BackupKeys)) // there may be none
	}
	if err := s.store.File.Backup(ctx, filepath.Join(part, BackupStore)); err != nil { // and syncs the folder
		return err
	}
	if err := os.Rename(part, path(began.UTC().Format(backupName))); err != nil {
		return err
	}
	names, err := Backups(s.backupDir)
	for ; len(names) > s.backupKeep && err == nil; names = names[1:] {
		if err = os.Rename(path(names[0]), part); err == nil {
			err = os.RemoveAll(part)
		}
	}
	return errors.Join(keysErr, err)
}

// CopyKeys copies the well-formed key file at from to a new file at path, whole or not at
// all. The error wraps fs.ErrExist if there is a file at path.
func CopyKeys(path, from string) error {
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
