package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

func importCommand(db *string) flags.Command {
	var o storage.ImportOptions
	return flags.Command{
		Name: "import",
		Args: "FILE",
		About: "make a new store of what export wrote: whole or, after an error or a crash, not at all." +
			" With - as FILE, read standard input",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to create")
			fs.BoolVar(&o.NewIDs, "new-ids", false, "assign new IDs; otherwise no ID may be missing")
		},
		Run: func(c *flags.Call) error { return importFile(c, *db, &o) },
	}
}

func importFile(c *flags.Call, db string, o *storage.ImportOptions) error {
	path, in := c.Args[0], os.Stdin
	if path == "-" {
		path = "standard input"
	} else {
		var err error
		if in, err = os.Open(path); err != nil {
			return err
		}
		defer in.Close()
	}
	ctx, stop := untilSignal(c)
	defer stop()
	o.Progress = progress(c.Stderr)
	pets, messages, err := storage.Import(ctx, db, until(ctx, in), o)
	switch {
	case errors.Is(err, storage.ErrIDs):
		return fmt.Errorf("nothing was imported: %w; -new-ids assigns new ones", err)
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("nothing was imported: %s exists; choose another file with -db", db)
	case err != nil:
		return fmt.Errorf("nothing was imported: %w", err)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: imported into %s; pets: %d; messages: %d\n", path, db, pets, messages)
	return err
}

// until returns a reader of r that ends with ctx. To read a pipe or a terminal may
// wait forever.
func until(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err) // nil: the end of r
	}()
	return out
}

// progress returns a function that shows how many pets were read: often, in the
// same line, on a terminal, and otherwise in a line for each million.
func progress(w io.Writer) func(pets int64) {
	format, step := "%d pets\n", int64(1_000_000)
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			format, step = "%d pets\r", 10_000
		}
	}
	return func(pets int64) {
		if pets%step == 0 {
			fmt.Fprintf(w, format, pets)
		}
	}
}
