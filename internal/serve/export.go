package serve

import (
	"flag"
	"io"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

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
