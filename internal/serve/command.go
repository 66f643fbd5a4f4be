package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// UsageError says that the program was called wrongly.
type UsageError struct{ Message string }

// Error returns the message.
func (e *UsageError) Error() string { return e.Message }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// errEnded is the error of a server that has logged why it ends: there is
// nothing left to print.
var errEnded = errors.New("ended")

// Main runs the program with the process's arguments, environment, output and
// signals, and returns its exit code: 0, 2 for wrong use, or 1.
func (p *Program) Main() int {
	return p.run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
}

func (p *Program) run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	err := p.dispatch(ctx, args, getenv, stdout, stderr)
	var usage *UsageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errEnded):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s; see %s -h\n", p.Name, oneLine(err), p.helpOn(args))
		return 2
	}
	fmt.Fprintf(stderr, "%s: %s\n", p.Name, oneLine(err))
	return 1
}

// oneLine returns err's text without line breaks, wherever it comes from.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// commands are the program's, the one that serves first.
func (p *Program) commands() []Command {
	return slices.Concat([]Command{p.serveCommand()}, keysCommands(), p.Commands, []Command{p.versionCommand()})
}

func (p *Program) dispatch(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	cmd, args, err := p.find(args)
	if err != nil {
		return err
	}
	shared := p.shared()
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are ours to print
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	args, err = parseFlags(fs, shared, args, getenv)
	if errors.Is(err, flag.ErrHelp) {
		return p.help(stdout, cmd, fs, shared)
	}
	if err != nil {
		return err
	}
	return cmd.Run(&Call{Context: ctx, Args: args, Stdout: stdout, Stderr: stderr})
}

// helpOn returns what has the usage text that args are in need of, with -h.
func (p *Program) helpOn(args []string) string {
	if cmd, _, err := p.find(args); err == nil && cmd.Name != serveName {
		return p.Name + " " + cmd.Name
	}
	return p.Name
}

// find returns the command that args start with, and the arguments after it.
// The one that serves is meant where none is named.
func (p *Program) find(args []string) (Command, []string, error) {
	all := p.commands()
	if len(args) > 0 && (args[0] == "-version" || args[0] == "--version") {
		return all[len(all)-1], args[1:], nil
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return all[0], args, nil
	}
	if args[0] == "help" {
		return all[0], []string{"-h"}, nil
	}
	var near []Command // those with the same first word
	var names []string
	for _, cmd := range all {
		words := strings.Fields(cmd.Name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return cmd, args[len(words):], nil
		}
		if words[0] == args[0] {
			near, names = append(near, cmd), append(names, cmd.Name)
		}
	}
	switch {
	case near == nil:
		return Command{}, nil, usagef("unknown command %q", args[0])
	case len(args) > 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[1]):
		return Command{Name: args[0], Args: "COMMAND", About: p.overview(near)}, []string{"-h"}, nil
	}
	return Command{}, nil, usagef("%s needs one of: %s", args[0], strings.Join(names, ", "))
}
