package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// maxProblems is how many problems are printed: the first ones say most.
const maxProblems = 100

// checkMemory is how many bytes of memory a check may take, beside the file. It
// needs a tenth of that for ten million pets.
const checkMemory = 2 << 30

// checkCommand reads a whole file and names its damage. It does so in a child
// process with limits of its own, so that a damaged file can end only that.
func checkCommand() flags.Command {
	var direct bool
	var timeout time.Duration
	return flags.Command{
		Name: "check",
		Args: "FILE",
		About: "read the whole file and name all damage; exit code 0: sound, 1: damaged, 2: it could not be checked." +
			" Check a copy, made with backup, of a file in use",
		Flags: func(fs *flag.FlagSet) {
			flags.Var(fs, &timeout, "timeout", time.Hour, "`duration` after which the check fails as if there were damage", flags.Duration(time.Millisecond))
			fs.BoolVar(&direct, "direct", false, "") // only for checkApart
		},
		Run: func(c *flags.Call) error {
			if direct {
				return check(c.Stdout, c.Args[0])
			}
			ctx, cancel := context.WithTimeout(c.Context, timeout)
			defer cancel()
			return checkApart(ctx, c, c.Args[0])
		},
	}
}

// check reads the file at path in this process.
func check(w io.Writer, path string) error {
	debug.SetMaxStack(64 << 20)
	limitMemory(checkMemory)
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

// limitMemory ends the process soon after it takes more than n bytes of memory.
func limitMemory(n uint64) {
	taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			if metrics.Read(taken); taken[0].Value.Uint64() > n {
				panic("the check takes too much memory")
			}
		}
	}()
}

// inUse is the error of a command that cannot read the file of a running server.
func inUse(path, command string) error {
	return fmt.Errorf("%s is in use by a server; stop that first, or make a copy with backup and %s the copy", path, command)
}

// checkApart runs check -direct in its own process.
func checkApart(ctx context.Context, c *flags.Call, path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "check", "-direct", "--", path)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = c.Stdout, &stderr
	err = cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s could not be checked in time; look at the disk, then try again with a longer -timeout", path)
	case strings.HasPrefix(stderr.String(), program().Name+": "): // an error of the check, not of the runtime
		_, _ = stderr.WriteTo(c.Stderr)
		return flags.Exit(cmd.ProcessState.ExitCode())
	}
	why, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	return fmt.Errorf("%s could not be checked to its end, so take it for damaged: the check ended with %w (%s)", path, err, why)
}
