// Package flags is the command line of the project's programs: commands with
// flags, environment variables, help, errors and exit codes.
//
// A main function calls [Program.Main]. A command defines its flags with [Var],
// whose errors say what a value must be, or with the methods of [flag.FlagSet]
// for strings.
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
	// Exit. 0: 1.
	Failure int
}

// Command is a command of a program.
type Command struct {
	Name  string // one word or more: "keys create"
	About string // what it does, in one line

	// Args are the arguments after the flags: "" for none, a word such as FILE
	// for exactly one, or a word and three dots, such as ID..., for one or
	// more.
	Args string

	// Flags defines the command's flags. nil: there are none.
	Flags func(*flag.FlagSet)

	// Run runs the command once its flags are set. An error of Usagef ends the
	// program with exit code 2, an Exit with its code, and any other error with
	// the program's Failure. Errors are printed in one line.
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
// that of another error.
func (p *Program) Run(c Call) int {
	cmd, args, err := p.find(c.Args)
	if err == nil {
		c.Args = args
		err = p.call(cmd, &c)
	}
	if err == nil {
		return 0
	}
	var exit Exit
	if errors.As(err, &exit) {
		return int(exit)
	}
	code, help := max(p.Failure, 1), ""
	if errors.As(err, new(usageError)) {
		code, help = 2, "; see "+p.Name+" -h"
		if cmd.Name != "" && cmd.Name != p.Default {
			help = "; see " + p.Name + " " + cmd.Name + " -h"
		}
	}
	message := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(err.Error())
	fmt.Fprintf(c.Stderr, "%s: %s%s\n", p.Name, message, help)
	return code
}

// commands returns those of the program and the two that every program has.
func (p *Program) commands() []Command {
	return append(slices.Clone(p.Commands), Command{
		Name:  "version",
		About: "print what the program was built from (-version does too)",
		Run: func(c *Call) error {
			_, err := fmt.Fprintln(c.Stdout, p.Name, version.String())
			return err
		},
	}, Command{
		Name:  "help",
		About: "print this text (-h does too)",
		Run: func(c *Call) error {
			_, err := io.WriteString(c.Stdout, p.help())
			return err
		},
	})
}

// aliases maps flags to the commands that they stand for.
var aliases = map[string]string{
	"-version": "version", "--version": "version",
	"-h": "help", "--h": "help", "-help": "help", "--help": "help",
}

// find returns the command that args name, and the arguments after its name.
func (p *Program) find(args []string) (Command, []string, error) {
	if len(args) > 0 && aliases[args[0]] != "" {
		args = append([]string{aliases[args[0]]}, args[1:]...)
	} else if p.Default != "" && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
		args = append([]string{p.Default}, args...)
	}
	var names []string
	unknown := args[:min(1, len(args))]
	for _, cmd := range p.commands() {
		words := strings.Fields(cmd.Name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return cmd, args[len(words):], nil
		}
		if len(args) > 1 && args[0] == words[0] {
			if unknown = args[:2]; aliases[args[1]] == "help" {
				return p.find([]string{"help"})
			}
		}
		names = append(names, cmd.Name)
	}
	wrong := "no command"
	if len(unknown) > 0 {
		wrong = fmt.Sprintf("unknown command %q", strings.Join(unknown, " "))
	}
	return Command{}, nil, Usagef("%s: must be one of %s", wrong, strings.Join(names, ", "))
}
