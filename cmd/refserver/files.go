package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
)

// exitLost is the exit code of an export that has skipped damage.
const exitLost = 3

// fileCommands are the commands for a file that no server uses.
func fileCommands() []flags.Command {
	var skip bool
	var out string
	return []flags.Command{{
		Name:  "check",
		Args:  "FILE",
		About: "read a whole file of a store, and name all its damage. Exit code 0: sound, 1: damaged, 2: it could not be checked. If the file is in use, stop its server first",
		Run:   check,
	}, {
		Name:  "export",
		Args:  "FILE",
		About: "write the pets, the queued messages and the outcomes of idempotency keys, for import. It writes one JSON object on each line. If the file is in use, a backup is an export",
		Flags: func(fs *flag.FlagSet) {
			serve.OutFlag(fs, &out)
			fs.BoolVar(&skip, "skip-damaged", false, "write what is left of a damaged file, without the outcomes, and report the damage on standard error; exit code 3: there is some")
		},
		Run: func(c *flags.Call) error { return export(c, out, skip) },
	}}
}

// inUse explains the error of a command that cannot read the file of a running
// server. It returns any other error as it is.
func inUse(err error, c *flags.Call) error {
	if errors.Is(err, storage.ErrLocked) {
		return fmt.Errorf("%s is in use by a server: stop that first", c.Args[0])
	}
	return err
}

func check(c *flags.Call) error {
	path := c.Args[0]
	damages := 0
	err := storage.Check(path, func(err error) {
		damages++
		fmt.Fprintln(c.Stderr, err)
	})
	if errors.Is(err, storage.ErrDamaged) {
		return fmt.Errorf("%s is damaged, places found: %d; import a backup, or save what is left with export -skip-damaged", path, damages)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.Stdout, "%s is sound\n", path)
	}
	if err != nil {
		fmt.Fprintf(c.Stderr, "refserver: %v\n", inUse(err, c))
		return flags.Exit(2)
	}
	return nil
}

func export(c *flags.Call, out string, skipDamaged bool) error {
	var x storage.Totals
	damages := 0
	err := serve.WriteExport(c, out, func(w io.Writer) (err error) {
		if !skipDamaged {
			return storage.Export(c.Args[0], w)
		}
		x, err = storage.Salvage(c.Args[0], w, func(err error) {
			damages++
			fmt.Fprintln(c.Stderr, err)
		})
		return err
	})
	switch {
	case errors.Is(err, storage.ErrDamaged) && skipDamaged:
		return fmt.Errorf("%w; nothing of it can be saved, so only a backup helps", err)
	case errors.Is(err, storage.ErrDamaged):
		return fmt.Errorf("%w; the export is not complete: -skip-damaged writes all that can be saved", err)
	case err != nil:
		return inUse(err, c)
	case !skipDamaged:
		return nil
	}
	fmt.Fprintf(c.Stderr, "saved: %d pets, %d messages; places of damage: %d\n", x.Pets, x.Messages, damages)
	if damages > 0 {
		return flags.Exit(exitLost)
	}
	return nil
}
