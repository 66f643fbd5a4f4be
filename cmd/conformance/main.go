// Command conformance judges a server of the petstore contract from
// outside, whatever language it is written in.
//
//	conformance run -url http://127.0.0.1:8080/v1 -key-file key
//	conformance list
//	conformance explain pets.list.limit.max
//
// It exits with 0 if the target is conformant, 1 if it is not, 2 if the
// command was used wrongly, and 3 if the target could not be judged.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"example.com/animalstore/internal/version"
)

// The exit codes.
const (
	exitConformant    = 0
	exitNotConformant = 1
	exitUsage         = 2
	exitNotJudged     = 3
)

const usage = `conformance: judge a server of the petstore contract from outside

Usage:
  conformance run -url URL [flags]
        run the checks against a target and report what they find
  conformance list [-json] [-run GLOBS] [-skip GLOBS]
        list the checks: id, level, section of the contract, title
  conformance explain ID...
        say what a check asks for, why, and what a failure looks like
  conformance version
        print what the command was built from (-version does too)

conformance run -h lists its flags.

Exit codes: 0 conformant, 1 not conformant, 2 wrong use, 3 could not be judged.
`

// environment is what a command works with.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(command(ctx, os.Args[1:], environment{os.Stdout, os.Stderr, os.Getenv}))
}

// usageError is the caller's fault.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// command carries out a command line and returns the exit code.
func command(ctx context.Context, args []string, env environment) int {
	if len(args) == 0 {
		fmt.Fprint(env.stderr, usage)
		return exitUsage
	}
	var (
		code int
		err  error
	)
	switch args[0] {
	case "run":
		code, err = run(ctx, args[1:], env)
	case "list":
		err = list(args[1:], env)
	case "explain":
		err = explain(args[1:], env)
	case "version", "-version", "--version":
		fmt.Fprintln(env.stdout, "conformance", version.String())
	case "help", "-h", "-help", "--help":
		fmt.Fprint(env.stdout, usage)
	default:
		err = usagef("there is no command %q: it is run, list, explain or version", args[0])
	}
	if err == nil || errors.Is(err, errHelp) {
		return code
	}
	fmt.Fprintf(env.stderr, "conformance: %v\n", err)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitNotJudged
}
