package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"

	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
)

// exportCommand writes what a file holds as JSON lines, that of a damaged file
// as far as it can be saved.
func exportCommand() serve.Command {
	var o storage.ExportOptions
	return serve.Command{
		Name: "export",
		Args: "FILE",
		About: "write the pets in the file to standard output, one JSON object a line." +
			" A file in use cannot be exported: export a copy made with backup",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&o.SkipDamaged, "skip-damaged", false, "pass over damage, with a line for each on standard error, and save the rest")
			fs.BoolVar(&o.Messages, "messages", false, "write the queued messages, not the pets")
		},
		Run: func(c *serve.Call) error {
			if len(c.Args) != 1 {
				return &serve.UsageError{Message: "export needs one FILE"}
			}
			n := 0
			o.Report = func(err error) {
				if n++; n <= maxProblems {
					fmt.Fprintln(c.Stderr, err)
				}
			}
			w := bufio.NewWriterSize(c.Stdout, 1<<16)
			x, err := storage.Export(c.Args[0], w, &o)
			if e := w.Flush(); err == nil {
				err = e
			}
			switch {
			case errors.Is(err, storage.ErrLocked):
				return errors.New(inUse(c.Args[0], "export"))
			case errors.Is(err, storage.ErrDamaged) && !o.SkipDamaged:
				return fmt.Errorf("%w; what was written is not all: -skip-damaged writes all that can be saved", err)
			case err != nil:
				return err
			case !o.SkipDamaged:
				return nil
			case x.Lost < 0:
				fmt.Fprintf(c.Stderr, "%d saved; how many there were is not known\n", x.Written)
			default:
				fmt.Fprintf(c.Stderr, "%d saved, %d lost\n", x.Written, x.Lost)
			}
			return nil
		},
	}
}
