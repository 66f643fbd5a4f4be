package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
)

func importCommand(db *string) flags.Command {
	return flags.Command{
		Name:  "import",
		Args:  "FILE",
		About: "make a new store of an export or a backup. It makes the store whole or, after an error or a crash, not at all, and never replaces one." + serve.ImportDetails,
		Flags: func(fs *flag.FlagSet) { dbFlag(fs, db, "`file` to create") },
		Run: serve.Import(func(c *flags.Call, r io.Reader) (storage.Totals, string, error) {
			got, err := storage.Import(c.Context, *db, r)
			if errors.Is(err, os.ErrExist) {
				err = fmt.Errorf("%s exists; move it away, or choose another file with -db", *db)
			}
			if err != nil {
				err = fmt.Errorf("nothing was imported: %w", err)
			}
			return got, *db, err
		}),
	}
}
