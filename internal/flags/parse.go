package flags

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
)

// call parses args, which follow the name of cmd, and runs it.
func (p *Program) call(cmd Command, args []string, c Call) error {
	fs := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Run prints the errors
	if cmd.Flags != nil {
		cmd.Flags(fs)
	}
	var err error
	if c.Args, err = parse(fs, args); errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(c.Stdout, p.helpFor(cmd, fs))
		return err
	} else if err != nil {
		return Usagef("%v", err)
	}
	fs.Visit(func(f *flag.Flag) { c.Given = append(c.Given, f.Name) })
	if err := p.setFromEnv(fs, c); err != nil {
		return err
	}
	switch {
	case cmd.Args == "" && len(c.Args) > 0:
		return Usagef("unexpected argument %q", c.Args[0])
	case strings.HasSuffix(cmd.Args, "...") && len(c.Args) == 0:
		return Usagef("%s needs at least one %s", cmd.Name, strings.TrimSuffix(cmd.Args, "..."))
	case cmd.Args != "" && !strings.HasSuffix(cmd.Args, "...") && len(c.Args) != 1:
		return Usagef("%s needs one %s", cmd.Name, cmd.Args)
	}
	return cmd.Run(&c)
}

// parse sets the flags in args, which may stand between other arguments, and
// returns these.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil || fs.NArg() == 0 {
			return rest, err
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// setFromEnv sets the flags that the arguments did not set and that have an
// environment variable that is not empty.
func (p *Program) setFromEnv(fs *flag.FlagSet, c Call) (err error) {
	fs.VisitAll(func(f *flag.Flag) {
		name := p.env(f.Name)
		if err != nil || name == "" || slices.Contains(c.Given, f.Name) || c.Getenv(name) == "" {
			return
		}
		if e := fs.Set(f.Name, c.Getenv(name)); e != nil {
			err = Usagef("invalid value %q for %s: %v", c.Getenv(name), name, e)
		}
	})
	return err
}

// env returns the environment variable of a flag, "" if it has none.
func (p *Program) env(flag string) string {
	if p.Env == nil {
		return ""
	}
	return p.Env(flag)
}
