package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// exportCommand writes the records of a file as lines of JSON. With
// -skip-damaged it saves what it can of a damaged file.
func exportCommand() flags.Command {
	var o storage.ExportOptions
	return flags.Command{
		Name: "export",
		Args: "FILE",
		About: "write the pets in the file to standard output, one JSON object on each line." +
			" If the file is in use, export a copy made with backup",
		Flags: func(fs *flag.FlagSet) {
			flags.Var(fs, &o.SkipDamaged, "skip-damaged", false, "skip damaged records, with a line for each on standard error, and save the rest", flags.Bool)
			flags.Var(fs, &o.Messages, "messages", false, "write the queued messages instead of the pets", flags.Bool)
		},
		Run: func(c *flags.Call) error {
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
				return inUse(c.Args[0], "export")
			case errors.Is(err, storage.ErrDamaged) && !o.SkipDamaged:
				return fmt.Errorf("%w; the output is not complete: -skip-damaged writes all that can be saved", err)
			case err != nil:
				return err
			case !o.SkipDamaged:
				return nil
			case x.Lost < 0:
				fmt.Fprintf(c.Stderr, "%d saved; how many were lost is unknown\n", x.Written)
			default:
				fmt.Fprintf(c.Stderr, "%d saved, %d lost\n", x.Written, x.Lost)
			}
			return nil
		},
	}
}
