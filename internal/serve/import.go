package serve

import (
	"flag"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// Import returns the run of a command that stores the export that its argument names. store
// stores it whole or not at all. into names where, for a message.
func Import(store func(c *flags.Call, r io.Reader) (got storage.Totals, into string, err error)) func(*flags.Call) error {
	return func(c *flags.Call) error {
		in, name := os.Stdin, c.Args[0]
		if name != "-" {
			var err error
			if in, err = os.Open(name); err != nil {
				return err
			}
			defer in.Close()
		}
		got, into, err := store(c, in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = fmt.Fprintf(c.Stdout, "%s: imported into %s; pets: %d; messages: %d; outcomes of idempotency keys: %d\n",
			name, into, got.Pets, got.Messages, got.Outcomes)
		return err
	}
}

// ImportDetails is the end of the help of an import.
const ImportDetails = " FILE is an export or a backup, and may be compressed; - is standard input"

// OutFlag defines the flag -o of a command that writes an export.
func OutFlag(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "o", "", "`file` to create, whole or not at all, compressed if its name ends in .gz; empty: standard output")
}

// WriteExport calls export with the file at path or, if that is empty, with standard output.
func WriteExport(c *flags.Call, path string, export func(io.Writer) error) error {
	if path != "" {
		return storage.CreateExportFile(path, export)
	}
	return export(c.Stdout) // in large writes
}
