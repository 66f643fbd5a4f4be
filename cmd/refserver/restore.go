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
		About: "check a copy of a store's file, put it in the place of the store, and keep the old file under another name. No server may use the store." +
			" If COPY is the folder of -backup-dir, the newest sound backup is restored and, if there is no key file, the newest keys",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to replace, or to create")
			serve.KeysFlag(fs, &keys)
		},
		Run: func(c *flags.Call) error {
			if info, err := os.Stat(c.Args[0]); err == nil && info.IsDir() {
				return restoreNewest(c, *db, keys, c.Args[0])
			}
			return restore(c, *db, c.Args[0])
		},
	}
}

// restoreNewest restores the newest sound backup in dir, and the newest keys.
func restoreNewest(c *flags.Call, db, keys, dir string) error {
	backups, err := serve.Backups(dir)
	for _, name := range slices.Backward(backups) {
		store := filepath.Join(dir, name, serve.BackupStore)
		_, missing := os.Stat(store)
		switch err := restore(c, db, store); {
		case err == nil:
			return restoreKeys(c, keys, dir, backups)
		case errors.Is(err, storage.ErrDamaged), errors.Is(err, storage.ErrForeign), errors.Is(missing, fs.ErrNotExist):
			fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
		default: // this backup may be sound
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("nothing was restored: %s has no sound backup", dir)
}

// restoreKeys restores the key file of the newest backup in dir that has one, unless
// there is a key file: a revoked key must not come back.
func restoreKeys(c *flags.Call, keys, dir string, backups []string) error {
	from, err := "", fs.ErrNotExist
	for i := len(backups) - 1; i >= 0 && errors.Is(err, fs.ErrNotExist); i-- {
		from = filepath.Join(dir, backups[i], serve.BackupKeys)
		err = apikey.Copy(keys, from)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(c.Stdout, "%s: not changed\n", keys)
	case err != nil:
		return fmt.Errorf("the store was restored, but not the keys: %w", err)
	default:
		fmt.Fprintf(c.Stdout, "%s: restored from %s\n", keys, from)
	}
	return nil
}

func restore(c *flags.Call, db, from string) error {
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
