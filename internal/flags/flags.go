// Package flags is the command line of the project's programs: commands, whose
// flags are those of package flag, with help, errors in one line and exit codes.
package flags

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Program is a program with its commands. The first one runs if none is named. There is one
// more, version, which is a flag, too.
type Program struct {
	Name     string // of the executable
	About    string // what it does, in one line
	Notes    string // the end of the help
	Commands []Command
}

// Command is a command of a program.
type Command struct {
	Name  string              // one word or more: "keys create"
	Args  string              // the argument after the flags, such as FILE; "": none
	About string              // what it does, in sentences without the last stop; the first is short
	Flags func(*flag.FlagSet) // defines its flags; nil: there are none
	Run   func(*Call) error
}

// Call is what a program or a command is called with.
type Call struct {
	Context context.Context
	Args    []string // for a command without its name and flags
	Getenv  func(string) string
	Stdout  io.Writer
	Stderr  io.Writer
}

// usageError says how the caller used the program wrongly.
type usageError struct{ error }

// Usagef returns an error that ends the program with exit code 2.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Exit is the error of a command that has nothing left to print: its exit code.
type Exit int

// Error implements error.
func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Version returns the versions of the module and of Go.
func Version() string {
	info, _ := debug.ReadBuildInfo() // go build always adds it
	return info.Main.Version + " " + info.GoVersion
}

// Main runs the program as the process, and returns its exit code.
func (p *Program) Main() int {
	return p.Run(Call{Context: context.Background(), Args: os.Args[1:], Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr})
}

// Run runs the program and returns its exit code: 0, 2 for a usage error, or
// that of another error, which it prints in one line.
func (p *Program) Run(c Call) int {
	err := p.run(&c)
	code, see := 1, ""
	if exit := Exit(0); err == nil || errors.As(err, &exit) {
		return int(exit)
	} else if errors.As(err, new(usageError)) {
		code, see = 2, "; see "+p.Name+" -h"
	}
	fmt.Fprintf(c.Stderr, "%s: %s%s\n", p.Name, strings.ReplaceAll(err.Error(), "\n", " "), see)
	return code
}

// run runs the command that the arguments name, or prints help.
func (p *Program) run(c *Call) error {
	if len(c.Args) == 1 && strings.TrimLeft(c.Args[0], "-") == "version" {
		c.Args = []string{"version"}
	}
	if len(c.Args) == 0 || strings.HasPrefix(c.Args[0], "-") {
		c.Args = append(strings.Fields(p.Commands[0].Name), c.Args...)
	}
	for _, cmd := range p.commands() {
		words := strings.Fields(cmd.Name)
		if len(c.Args) < len(words) || !slices.Equal(c.Args[:len(words)], words) {
			continue
		}
		fs := cmd.flagSet(io.Discard)
		err := fs.Parse(c.Args[len(words):])
		c.Args = fs.Args()
		switch {
		case errors.Is(err, flag.ErrHelp):
			p.help(c.Stdout, cmd)
			return nil
		case err != nil:
			return usageError{err}
		case cmd.Args == "" && len(c.Args) > 0: // which may have a password
			return Usagef("%s: takes no argument, and flags come before it", cmd.Name)
		case cmd.Args != "" && len(c.Args) != 1:
			return Usagef("%s: needs one %s after the flags", cmd.Name, cmd.Args)
		}
		return cmd.Run(c)
	}
	return Usagef("no such command")
}

func (p *Program) commands() []Command {
	return append(slices.Clone(p.Commands), Command{Name: "version", About: "print the version", Run: func(c *Call) error {
		_, err := fmt.Fprintln(c.Stdout, p.Name, Version())
		return err
	}})
}

func (cmd Command) flagSet(output io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(output)
	fs.Usage = func() {}
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	return fs
}

// help prints what a command does, and its flags. With those of the first command it prints
// all commands.
func (p *Program) help(w io.Writer, cmd Command) {
	fmt.Fprintf(w, "%s %s\n\n%s.\n\n", p.Name, cmd.line(), cmd.About)
	cmd.flagSet(w).PrintDefaults()
	if cmd.Name != p.Commands[0].Name {
		return
	}
	fmt.Fprintf(w, "\n%s: %s\n\n", p.Name, p.About)
	for _, cmd := range p.commands() {
		first, _, _ := strings.Cut(cmd.About, ". ")
		fmt.Fprintf(w, "  %-28s  %s\n", cmd.line(), first)
	}
	fmt.Fprintf(w, "\n%s COMMAND -h shows the flags of a command.\n%s", p.Name, p.Notes)
}

// line returns how to call a command.
func (cmd Command) line() string {
	if cmd.Flags != nil {
		return strings.TrimSpace(cmd.Name + " [flags] " + cmd.Args)
	}
	return strings.TrimSpace(cmd.Name + " " + cmd.Args)
}
