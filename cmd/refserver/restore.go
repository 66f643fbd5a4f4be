package main

import (
	"flag"
	"fmt"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

func restoreCommand(db *string) flags.Command {
	return flags.Command{
		Name:  "restore",
		Args:  "FILE",
		About: "check a copy of a store's file, put it in the place of the store, and keep the old file under another name. No server may use the store",
		Flags: func(fs *flag.FlagSet) { dbFlag(fs, db, "`file` to replace, or to create") },
		Run:   func(c *flags.Call) error { return restore(c, *db, c.Args[0]) },
	}
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
