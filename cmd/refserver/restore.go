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
	"example.com/animalstore/petstore/storage"
)

func restoreCommand(db *string) flags.Command {
	var keys string
	return flags.Command{
		Name:  "restore",
		Args:  "COPY",
		About: "make a store of a copy, such as a backup, after checking it",
		Details: "It never replaces a store: move that away first." +
			" If COPY is the folder of -backup-dir, it restores the newest sound backup and, if the key file is missing, the newest keys. If COPY is the folder of one backup, it restores that store alone.",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to create")
			serve.KeysFlag(fs, &keys)
		},
		Run: func(c *flags.Call) error {
			if exists(*db) {
				return fmt.Errorf("nothing was restored: %s exists. If only the keys are lost, copy %s from the newest backup; to go back to a backup, stop the server and move %[1]s away first", *db, serve.BackupKeys)
			}
			from := c.Args[0]
			if info, err := os.Stat(from); err == nil && info.IsDir() {
				one := filepath.Join(from, serve.BackupStore)
				if backups, _ := serve.Backups(from); len(backups) > 0 || !exists(one) {
					return restoreNewest(c, *db, keys, from)
				}
				from = one // it is the folder of one backup
			}
			if err := restore(c, *db, from); err != nil {
				return fmt.Errorf("nothing was restored: %w", err)
			}
			return nil
		},
	}
}

// restoreNewest restores the newest sound backup in dir, and the newest keys.
func restoreNewest(c *flags.Call, db, keys, dir string) error {
	backups, err := serve.Backups(dir)
	for _, name := range slices.Backward(backups) {
		store := filepath.Join(dir, name, serve.BackupStore)
		switch err := restore(c, db, store); {
		case err == nil:
			return restoreKeys(c, keys, dir, backups)
		case errors.Is(err, storage.ErrDamaged), errors.Is(err, storage.ErrNotPetstore), !exists(store):
			fmt.Fprintf(c.Stderr, "%s: skipped, so newer pets may be lost: %v\n", name, err)
		default: // this backup may be sound
			return fmt.Errorf("%s: nothing was restored: %w", name, err)
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
		err = serve.CopyKeys(keys, from)
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
	if err := storage.Restore(db, from); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "%s: restored from %s, which was checked\n", db, from)
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
