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
		About: "check a copy, put it in the place of the store, and keep the old file under another name. COPY is a store file," +
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
	if err != nil {
		return err
	}
	if len(backups) == 0 {
		backups = []string{dir}
	}
	for _, path := range slices.Backward(backups) {
		err := restoreFile(c, db, filepath.Join(path, serve.BackupStore))
		switch {
		case err == nil:
			return restoreKeys(c, keys, filepath.Join(path, serve.BackupKeys))
		case errors.Is(err, storage.ErrLocked), len(backups) == 1: // locked: a server is running
			return err
		}
		fmt.Fprintf(c.Stderr, "%s: %v\n", path, err)
	}
	return fmt.Errorf("nothing was restored: %s has no sound backup", dir)
}

// restoreKeys restores a key file after the store, if there is none.
func restoreKeys(c *flags.Call, keys, from string) error {
	switch err := apikey.Copy(keys, from); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(c.Stdout, "%s: not changed\n", keys)
	case err != nil:
		return fmt.Errorf("the store was restored, but not the keys: %w", err)
	default:
		fmt.Fprintf(c.Stdout, "%s: restored too\n", keys)
	}
	return nil
}

func restoreFile(c *flags.Call, db, from string) error {
	kept, err := storage.Restore(db, from)
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	fmt.Fprintf(c.Stdout, "%s: restored from %s, which was checked\n", db, from)
	if kept != "" {
		fmt.Fprintf(c.Stdout, "the file that was there is now %s\n", kept)
	}
	return nil
}
