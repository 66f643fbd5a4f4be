package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/storage"
)

func restoreCommand(db *string) flags.Command {
	var keys string
	return flags.Command{
		Name: "restore",
		Args: "COPY",
		About: "check a copy, put it in the place of the store, and keep the old file under another name. COPY is a file from GET /backup of the admin address," +
			" a backup in -backup-dir, or that folder: then it is the newest backup that is sound, and its keys are restored if there is no key file." +
			" No server may use the store",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to replace, or to create")
			serve.KeysFlag(fs, &keys)
		},
		Run: func(c *flags.Call) error {
			info, err := os.Stat(c.Args[0])
			if err == nil && info.IsDir() {
				return restoreFolder(c, *db, keys, c.Args[0])
			}
			return restoreFile(c, *db, c.Args[0])
		},
	}
}

// restoreFolder restores the backup in dir, or the newest sound one of those in dir.
func restoreFolder(c *flags.Call, db, keys, dir string) error {
	backups, err := serve.Backups(dir)
	if _, e := os.Stat(filepath.Join(dir, serve.BackupStore)); e == nil {
		backups = []string{dir}
	}
	if err != nil {
		return err
	}
	found := false
	for _, path := range slices.Backward(backups) {
		from := filepath.Join(path, serve.BackupStore)
		if _, err = os.Stat(from); err == nil {
			err = restoreFile(c, db, from)
		}
		if found = err == nil; found {
			dir = path
			break
		}
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrForeign) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintf(c.Stderr, "%s: %v\n", path, err)
	}
	if !found {
		return fmt.Errorf("nothing was restored: %s has no sound backup", dir)
	}
	err = apikey.Copy(keys, filepath.Join(dir, serve.BackupKeys))
	switch {
	case errors.Is(err, fs.ErrExist):
		_, err = fmt.Fprintf(c.Stdout, "%s: not changed\n", keys)
	case err != nil:
		err = fmt.Errorf("the store was restored, but not the keys: %w", err)
	default:
		_, err = fmt.Fprintf(c.Stdout, "%s: restored too\n", keys)
	}
	return err
}

func restoreFile(c *flags.Call, db, from string) error {
	kept, err := storage.Restore(db, from)
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: restored from %s, which was checked\n", db, from)
	if kept != "" && err == nil {
		_, err = fmt.Fprintf(c.Stdout, "the file that was there is now %s\n", kept)
	}
	return err
}
