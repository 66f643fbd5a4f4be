// Package flags is the command line of the project's programs: commands, whose
// flags are those of package flag, with help, errors in one line and exit codes.
// A main function calls [Program.Main].
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
	"text/tabwriter"

	"example.com/animalstore/internal/version"
)

// Program is a program with its commands. It has one more: version.
type Program struct {
	Name     string // of the executable
	About    string // what it does, in one line
	Notes    string // the end of the help; "": none
	Commands []Command

	// Default is the name of the command that runs if the arguments are empty
	// or start with a flag. "": the arguments must name a command.
	Default string
}

// Command is a command of a program.
type Command struct {
	Name  string // one word or more: "keys create"
	About string // what it does, in one short line

	// Details says more about the command, in sentences. "": there is no more to say.
	Details string

	// Args is the argument after the flags, a word such as FILE. "": none.
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
	Getenv  func(string) string
	Stdout  io.Writer
	Stderr  io.Writer
}

// Input opens the file that the argument names, which is standard input for "-". The name
// is for messages.
func (c *Call) Input() (in *os.File, name string, err error) {
	if c.Args[0] == "-" {
		return os.Stdin, "standard input", nil
	}
	in, err = os.Open(c.Args[0])
	return in, c.Args[0], err
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
	words := c.Args // without a request for help at the end
	if n := len(words); n > 0 && slices.Contains([]string{"-h", "-help", "--help", "help"}, words[n-1]) {
		if words = words[:n-1]; n == 1 {
			p.overview(c.Stdout)
			return 0
		}
	}
	if len(words) == 1 && p.list(c.Stdout, words[0]+" ") {
		return 0
	}
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
	code, see := 1, permissionHint(err)
	if errors.As(err, new(usageError)) {
		code, see = 2, strings.TrimSpace("; see "+p.Name+" "+cmd.Name)+" -h"
	}
	fmt.Fprintf(c.Stderr, "%s: %s%s\n", p.Name, strings.ReplaceAll(err.Error(), "\n", " "), see)
	return code
}

// commands returns all commands.
func (p *Program) commands() []Command {
	return append(slices.Clone(p.Commands), Command{
		Name: "version", About: "print the version", Run: func(c *Call) error {
			_, err := fmt.Fprintln(c.Stdout, p.Name, version.String())
			return err
		},
	})
}

// find returns the command that the arguments name, and removes its name from
// them. Without a name it is the default command.
func (p *Program) find(c *Call) (Command, error) {
	args := c.Args
	if len(args) == 1 && (args[0] == "-version" || args[0] == "--version") {
		args = []string{"version"}
	}
	if p.Default != "" && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
		args = slices.Insert(slices.Clone(args), 0, p.Default)
	}
	var names []string
	for _, cmd := range p.commands() {
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
	fs := cmd.flagSet()
	if err := fs.Parse(c.Args); errors.Is(err, flag.ErrHelp) {
		p.help(c.Stdout, cmd)
		return nil
	} else if err != nil {
		return Usagef("%s", parseError(fs, err))
	}
	var empty error
	fs.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" && f.DefValue != "" {
			empty = Usagef("-%s: must not be empty", f.Name)
		}
	})
	c.Args = fs.Args()
	switch {
	case empty != nil:
		return empty
	case cmd.Args == "" && len(c.Args) > 0 && strings.Contains(c.Args[0], "://"): // it may have a password
		return Usagef("unexpected argument: a URL follows the name of its flag")
	case cmd.Args == "" && len(c.Args) > 0:
		return Usagef("unexpected argument %q", c.Args[0])
	case cmd.Args != "" && len(c.Args) != 1:
		return Usagef("needs one %s after the flags, got %q", cmd.Args, c.Args)
	}
	return cmd.Run(c)
}

// flagSet returns the flags of a command.
func (cmd Command) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Run prints the errors
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	return fs
}

// overview prints the commands, the flags of the default command, and the notes.
func (p *Program) overview(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n", p.Name, p.About)
	p.list(w, "")
	for _, cmd := range p.Commands {
		if cmd.Name == p.Default {
			fmt.Fprintf(w, "\nFlags of %s:\n\n", cmd.Name)
			cmd.printFlags(w)
		}
	}
	fmt.Fprintf(w, "\n%s", p.Notes)
}

// list prints a line for each command whose name begins with prefix, and reports whether
// there is one.
func (p *Program) list(w io.Writer, prefix string) (ok bool) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cmd := range p.commands() {
		if strings.HasPrefix(cmd.Name, prefix) {
			ok = true
			fmt.Fprintf(table, "  %s\t%s\n", p.line(cmd), cmd.About)
		}
	}
	if ok {
		_ = table.Flush()
		fmt.Fprintf(w, "\n%s COMMAND -h shows the flags of a command.\n", p.Name)
	}
	return ok
}

// line returns how to call a command.
func (p *Program) line(cmd Command) string {
	name := cmd.Name
	if name == p.Default {
		name = "[" + name + "]"
	}
	if cmd.Flags != nil {
		name += " [flags]"
	}
	return strings.TrimSpace(p.Name + " " + name + " " + cmd.Args)
}

// help prints how to call a command, what it does, and its flags.
func (p *Program) help(w io.Writer, cmd Command) {
	fmt.Fprintf(w, "%s\n\t%s\n", p.line(cmd), cmd.About)
	if cmd.Details != "" {
		fmt.Fprintf(w, "\t%s\n", cmd.Details)
	}
	cmd.printFlags(w)
}

func (cmd Command) printFlags(w io.Writer) {
	fs := cmd.flagSet()
	fs.SetOutput(w)
	fs.PrintDefaults()
}
