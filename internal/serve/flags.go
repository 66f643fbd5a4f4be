package serve

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/animalstore/internal/flags"
)

// The flag sets are the one table that command line, environment and usage
// text are made from.

// envPrefix starts the names of the environment variables that stand in for
// flags.
const envPrefix = "PETSTORE_"

// envName returns the environment variable of a flag.
func envName(flagName string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// shared returns the flags that have an environment variable: those of the
// command that serves, and the same ones of other commands. What is meant for
// one call alone, such as to write over a file, must not be set for all.
func (p *Program) shared() *flag.FlagSet {
	fs := flag.NewFlagSet(serveName, flag.ContinueOnError)
	p.serveCommand().Flags(fs)
	return fs
}

// parseFlags sets fs's flags from args and, those that are shared and not
// there, from the environment, where empty means not set. It returns the
// arguments that are no flags; flags may stand after them too.
func parseFlags(fs, shared *flag.FlagSet, args []string, getenv func(string) string) ([]string, error) {
	flags.Explain(fs)
	var rest []string
	for {
		if err := fs.Parse(args); err == flag.ErrHelp {
			return nil, err
		} else if err != nil {
			return nil, usagef("%v", err)
		}
		if fs.NArg() == 0 {
			break
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var err error
	fs.VisitAll(func(f *flag.Flag) {
		if given[f.Name] || shared.Lookup(f.Name) == nil || err != nil {
			return
		}
		value := getenv(envName(f.Name))
		if value == "" {
			return
		}
		if e := fs.Set(f.Name, value); e != nil {
			err = usagef("invalid value %q for %s: %v", value, envName(f.Name), e)
		}
	})
	return rest, err
}

// help writes the usage text of cmd, and after the one that serves what else
// there is.
func (p *Program) help(w io.Writer, cmd Command, fs, shared *flag.FlagSet) error {
	var b strings.Builder
	if all := p.commands(); cmd.Name == all[0].Name {
		fmt.Fprintf(&b, "%s: %s\n\nUsage:\n", p.Name, p.About)
		b.WriteString(p.overview(all))
		fmt.Fprintf(&b, "\nFlags of %s serve, each with the environment variable that is used without it:\n", p.Name)
	} else {
		fmt.Fprintf(&b, "Usage: %s\n\n%s\n", p.synopsis(cmd), cmd.About)
		if cmd.Flags != nil {
			b.WriteString("\nFlags:\n")
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" {
			return // for the program's own use
		}
		arg, usage := flag.UnquoteUsage(f)
		if arg != "" {
			arg = " " + arg
		}
		if shared.Lookup(f.Name) != nil {
			arg += "  (" + envName(f.Name) + ")"
		}
		fmt.Fprintf(&b, "  -%s%s\n        %s", f.Name, arg, usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0s" {
			fmt.Fprintf(&b, " (default %s)", f.DefValue)
		}
		b.WriteByte('\n')
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// overview tells what each of some commands does.
func (p *Program) overview(commands []Command) string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "  %s\n        %s\n", p.synopsis(c), c.About)
	}
	return b.String()
}

// synopsis returns how c is called.
func (p *Program) synopsis(c Command) string {
	s := p.Name + " " + c.Name
	if c.Name == serveName {
		s = p.Name + " [" + c.Name + "]"
	}
	if c.Flags != nil {
		s += " [flags]"
	}
	if c.Args != "" {
		s += " " + c.Args
	}
	return s
}

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	for _, v := range c.of {
		if s == v {
			c.value = s
			return nil
		}
	}
	return fmt.Errorf("must be %s", strings.Join(c.of, " or "))
}
