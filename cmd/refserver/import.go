package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

func importCommand(db *string) flags.Command {
	var opts storage.ImportOptions
	return flags.Command{
		Name:    "import",
		Args:    "FILE",
		About:   "make a new store of what export wrote",
		Details: "It makes the store whole or, after an error or a crash, not at all. With - as FILE, it reads standard input.",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to create")
			fs.BoolVar(&opts.NewIDs, "new-ids", false, "assign new IDs; otherwise no ID may be missing")
		},
		Run: func(c *flags.Call) error { return importFile(c, *db, &opts) },
	}
}

func importFile(c *flags.Call, db string, opts *storage.ImportOptions) error {
	in, path, err := c.Input()
	if err != nil {
		return err
	}
	defer in.Close()
	got, err := storage.Import(c.Context, db, in, opts)
	switch {
	case errors.Is(err, storage.ErrIDs):
		return fmt.Errorf("nothing was imported: %w; -new-ids assigns new ones", err)
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("nothing was imported: %s exists; choose another file with -db", db)
	case err != nil:
		return fmt.Errorf("nothing was imported: %w", err)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: imported into %s; pets: %d; messages: %d\n", path, db, got.Pets, got.Messages)
	return err
}
