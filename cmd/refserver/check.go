package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// maxProblems is how many problems are printed: the first ones say most.
const maxProblems = 100

// checkCommand reads a whole file and names its damage.
func checkCommand() flags.Command {
	return flags.Command{
		Name: "check",
		Args: "FILE",
		About: "read the whole file and name all damage; exit code 0: sound, 1: damaged, 2: it could not be checked." +
			" If the file is in use, check a copy made with backup",
		Run: func(c *flags.Call) error { return check(c.Stdout, c.Args[0]) },
	}
}

func check(w io.Writer, path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%s is empty; a store never is, even without pets", path)
	}
	n, foreign := 0, false
	var first error
	err := storage.Check(path, func(err error) {
		foreign = foreign || errors.Is(err, storage.ErrForeign)
		if n == 0 {
			first = err
		}
		if n++; n <= maxProblems {
			fmt.Fprintln(w, err)
		}
	})
	switch {
	case errors.Is(err, storage.ErrLocked):
		return flags.Usagef("%v", inUse(path, "check"))
	case err != nil:
		return flags.Usagef("%v", err)
	case foreign:
		return fmt.Errorf("%s is not a petstore; if it was one, its start is lost: save what is left with export -skip-damaged", path)
	case n == 1 && errors.Is(first, storage.ErrSpare):
		return fmt.Errorf("%s has lost nothing: start the server, which writes the damaged page again; look after the disk", path)
	case n == 1 && errors.Is(first, storage.ErrUndecided):
		return fmt.Errorf("%s may lack what was stored last; restore a newer backup, or copy the file and continue without it: refserver accept-older %s", path, path)
	case n > maxProblems:
		fmt.Fprintf(w, "and %d more\n", n-maxProblems)
		fallthrough
	case n > 0:
		return fmt.Errorf("%s is damaged; restore it from a backup, or save what is left with export -skip-damaged", path)
	}
	_, err = fmt.Fprintf(w, "%s is sound\n", path)
	return err
}

// inUse is the error of a command that cannot read the file of a running server.
func inUse(path, command string) error {
	return fmt.Errorf("%s is in use by a server; stop that first, or make a copy with backup and %s the copy", path, command)
}
