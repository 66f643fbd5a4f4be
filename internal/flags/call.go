package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// call sets the flags of a command and runs it.
func (p *Program) call(cmd Command, c *Call) error {
	fs := newFlagSet(cmd)
	var args []string
	for rest := c.Args; ; rest = rest[1:] { // flags may stand between other arguments
		if err := fs.Parse(rest); errors.Is(err, flag.ErrHelp) {
			_, err = io.WriteString(c.Stdout, p.helpFor(cmd))
			return err
		} else if err != nil {
			return Usagef("%w", err)
		}
		if rest = fs.Args(); len(rest) == 0 {
			break
		}
		args = append(args, rest[0])
	}
	c.Args = args
	fs.Visit(func(f *flag.Flag) { c.Given = append(c.Given, f.Name) })
	if err := p.setFromEnv(fs, c); err != nil {
		return err
	}
	what, several := strings.CutSuffix(cmd.Args, "...")
	switch {
	case what == "" && len(args) > 0:
		return Usagef("unexpected argument %q", args[0])
	case several && len(args) == 0:
		return Usagef("%s needs at least one %s", cmd.Name, what)
	case what != "" && !several && len(args) != 1:
		return Usagef("%s needs one %s", cmd.Name, what)
	}
	return cmd.Run(c)
}

// newFlagSet returns the flags of a command.
func newFlagSet(cmd Command) *flag.FlagSet {
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Run prints the errors
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	return fs
}

// setFromEnv sets the flags that the arguments did not set and that have an
// environment variable that is not empty.
func (p *Program) setFromEnv(fs *flag.FlagSet, c *Call) (err error) {
	fs.VisitAll(func(f *flag.Flag) {
		name := p.Env[f.Name]
		if err != nil || name == "" || slices.Contains(c.Given, f.Name) || c.Getenv(name) == "" {
			return
		}
		if e := fs.Set(f.Name, c.Getenv(name)); e != nil {
			err = Usagef("invalid value %q for %s: %v", c.Getenv(name), name, e)
		}
	})
	return err
}

// help returns the help of the program: its commands, and the flags of the
// default one.
func (p *Program) help() string {
	text := fmt.Sprintf("%s: %s\n\nUsage:\n", p.Name, p.About)
	flags := ""
	for _, cmd := range p.commands() {
		text += fmt.Sprintf("  %s\n    \t%s\n", p.synopsis(cmd), cmd.About)
		if cmd.Name == p.Default {
			flags = fmt.Sprintf("\nFlags of %s %s:\n%s", p.Name, cmd.Name, p.list(cmd))
		}
	}
	if p.Notes != "" {
		flags += "\n" + p.Notes
	}
	return text + flags
}

// helpFor returns the help of a command.
func (p *Program) helpFor(cmd Command) string {
	text := fmt.Sprintf("Usage: %s\n\n%s\n", p.synopsis(cmd), cmd.About)
	if cmd.Flags != nil {
		text += "\nFlags:\n" + p.list(cmd)
	}
	return text
}

// synopsis returns the form of a call of cmd.
func (p *Program) synopsis(cmd Command) string {
	s := p.Name + " " + cmd.Name
	if cmd.Name == p.Default {
		s = p.Name + " [" + cmd.Name + "]"
	}
	if cmd.Flags != nil {
		s += " [flags]"
	}
	return strings.TrimSpace(s + " " + cmd.Args)
}

// list describes the flags of a command, each with its environment variable.
func (p *Program) list(cmd Command) string {
	var b strings.Builder
	fs := newFlagSet(cmd)
	fs.VisitAll(func(f *flag.Flag) {
		if name := p.Env[f.Name]; name != "" {
			f.Usage += " (" + name + ")"
		}
	})
	fs.SetOutput(&b)
	fs.PrintDefaults()
	return b.String()
}
