// Package flags is the command line of the project's programs: commands, whose
// flags are those of package flag, with environment variables, help, errors in
// one line and exit codes. A main function calls [Program.Main].
package flags

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"example.com/animalstore/internal/version"
)

// Program is a program with its commands. It has two more: help and version.
type Program struct {
	Name     string // of the executable
	About    string // what it does, in one line
	Notes    string // the end of the help; "": none
	Commands []Command

	// Default is the name of the command that runs if the arguments are empty
	// or start with a flag. "": the arguments must name a command.
	Default string

	// Env maps the name of a flag to the environment variable that sets the flag
	// if the arguments do not.
	Env map[string]string

	// Failure is the exit code of an error that is neither from Usagef nor an
	// Exit. 0 means 1.
	Failure int
}

// Command is a command of a program.
type Command struct {
	Name  string // one word or more: "keys create"
	About string // what it does, in one line

	// Args is the argument after the flags, a word such as FILE. A word and three
	// dots are one or more arguments. "": none.
	Args string

	// Flags defines the command's flags. nil: there are none.
	Flags func(*flag.FlagSet)

	// Run runs the command once its flags are set.
	Run func(*Call) error
}

// Call is what a program or a command is called with.
type Call struct {
	Context context.Context
	Args    []string // for a command without its name and flags
	Given   []string // names of the flags that the arguments set; only for a command
	Getenv  func(string) string
	Stdout  io.Writer
	Stderr  io.Writer
}

// usageError says how the caller used the program wrongly.
type usageError struct{ error }

// Usagef returns an error that ends the program with exit code 2.
func Usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// Exit is the error of a command that has nothing left to print: its exit code.
type Exit int

// Error implements error.
func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs the program with the arguments, environment and outputs of the
// process. It returns the exit code.
func (p *Program) Main() int {
	return p.Run(Call{Context: context.Background(), Args: os.Args[1:], Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr})
}

// Run runs the program and returns its exit code: 0, 2 for a usage error, or
// that of another error, which it prints in one line.
func (p *Program) Run(c Call) int {
	cmd, err := p.find(&c)
	if err == nil {
		err = p.call(cmd, &c)
	}
	var exit Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	code, help := max(p.Failure, 1), ""
	if errors.As(err, new(usageError)) {
		code, help = 2, strings.TrimSpace("; see "+p.Name+" "+cmd.Name)+" -h"
	}
	fmt.Fprintf(c.Stderr, "%s: %s%s\n", p.Name, strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), " "), help)
	return code
}

// find returns the command that the arguments name, and removes its name from
// them. Help and version may be written as flags.
func (p *Program) find(c *Call) (Command, error) {
	commands := append(slices.Clone(p.Commands), Command{
		Name: "help", Run: func(*Call) error { return p.help(c.Stdout) },
	}, Command{
		Name: "version", Run: func(*Call) error {
			_, err := fmt.Fprintln(c.Stdout, p.Name, version.String())
			return err
		},
	})
	args := slices.Clone(c.Args)
	switch {
	case len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]):
		args[0] = "help"
	case len(args) > 0 && strings.TrimLeft(args[0], "-") == "version":
		args[0] = "version"
	case p.Default != "" && (len(args) == 0 || strings.HasPrefix(args[0], "-")):
		args = slices.Insert(args, 0, p.Default)
	}
	var names []string
	for _, cmd := range commands {
		words := strings.Fields(cmd.Name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			c.Args = args[len(words):]
			return cmd, nil
		}
		names = append(names, cmd.Name)
	}
	return Command{}, Usagef("unknown command %q: must be one of %s", strings.Join(args[:min(2, len(args))], " "), strings.Join(names, ", "))
}

// call sets the flags of a command and runs it.
func (p *Program) call(cmd Command, c *Call) error {
	fs := p.flagSet(cmd)
	if err := fs.Parse(c.Args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(c.Stdout, "Usage: %s\n", p.usage(cmd))
		p.printFlags(c.Stdout, cmd)
		return nil
	} else if err != nil {
		return Usagef("%w", err)
	}
	c.Args = fs.Args()
	fs.Visit(func(f *flag.Flag) { c.Given = append(c.Given, f.Name) })
	var err error
	fs.VisitAll(func(f *flag.Flag) {
		value := ""
		if name := p.Env[f.Name]; name != "" && !slices.Contains(c.Given, f.Name) {
			value = c.Getenv(name)
		}
		if value != "" && err == nil {
			if err = fs.Set(f.Name, value); err != nil {
				err = Usagef("invalid value %q for %s: %w", value, p.Env[f.Name], err)
			}
		}
	})
	what, several := strings.CutSuffix(cmd.Args, "...")
	switch {
	case err != nil:
		return err
	case what == "" && len(c.Args) > 0:
		return Usagef("unexpected argument %q", c.Args[0])
	case what != "" && (len(c.Args) == 0 || len(c.Args) > 1 && !several):
		return Usagef("needs one %s after the flags, got %q", what, c.Args)
	}
	return cmd.Run(c)
}

// flagSet returns the flags of a command, whose usage names the environment
// variables.
func (p *Program) flagSet(cmd Command) *flag.FlagSet {
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Run prints the errors
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if name := p.Env[f.Name]; name != "" {
			f.Usage += " (" + name + ")"
		}
	})
	return fs
}

// help prints the commands, and the flags of the default one.
func (p *Program) help(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n\nUsage:\n", p.Name, p.About)
	var first Command
	for _, cmd := range p.Commands {
		fmt.Fprintf(w, "  %s", p.usage(cmd))
		if cmd.Name == p.Default {
			first = cmd
		}
	}
	fmt.Fprintf(w, "  %s version\n", p.Name)
	p.printFlags(w, first)
	_, err := io.WriteString(w, p.Notes)
	return err
}

// usage returns the form of a call of cmd, and what it does.
func (p *Program) usage(cmd Command) string {
	name := cmd.Name
	if name == p.Default {
		name = "[" + name + "]"
	}
	if cmd.Flags != nil {
		name += " [flags]"
	}
	return strings.TrimSpace(p.Name+" "+name+" "+cmd.Args) + "\n    \t" + cmd.About + "\n"
}

func (p *Program) printFlags(w io.Writer, cmd Command) {
	if cmd.Flags != nil {
		fmt.Fprintf(w, "\nFlags of %s %s:\n", p.Name, cmd.Name)
		fs := p.flagSet(cmd)
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
}
