package flags

import (
	"flag"
	"fmt"
	"strings"
)

// help returns the help of the program: its commands, and the flags of the
// default one.
func (p *Program) help() string {
	all := p.commands()
	text := fmt.Sprintf("%s: %s\n\nUsage:\n%s", p.Name, p.About, p.overview(all))
	for _, cmd := range all {
		if cmd.Name == p.Default {
			fs := flag.NewFlagSet("", flag.ContinueOnError)
			cmd.Flags(fs)
			text += fmt.Sprintf("\nFlags of %s %s:\n%s", p.Name, cmd.Name, p.list(fs))
		}
	}
	if p.Notes != "" {
		text += "\n" + p.Notes
	}
	return text
}

// helpFor returns the help of a command with the flags fs.
func (p *Program) helpFor(cmd Command, fs *flag.FlagSet) string {
	text := fmt.Sprintf("Usage: %s\n\n%s\n", p.synopsis(cmd), cmd.About)
	if list := p.list(fs); list != "" {
		text += "\nFlags:\n" + list
	}
	return text
}

// overview says what each of the commands does.
func (p *Program) overview(commands []Command) string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "  %s\n        %s\n", p.synopsis(c), c.About)
	}
	return b.String()
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
	if cmd.Args != "" {
		s += " " + cmd.Args
	}
	return s
}

// list describes the flags, each with its environment variable in parentheses.
func (p *Program) list(fs *flag.FlagSet) string {
	var b strings.Builder
	fs.VisitAll(func(f *flag.Flag) {
		arg, usage := flag.UnquoteUsage(f)
		if usage == "" {
			return
		}
		if arg != "" {
			arg = " " + arg
		}
		if name := p.env(f.Name); name != "" {
			arg += "  (" + name + ")"
		}
		fmt.Fprintf(&b, "  -%s%s\n        %s", f.Name, arg, usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0s" {
			fmt.Fprintf(&b, " (default %s)", f.DefValue)
		}
		b.WriteByte('\n')
	})
	return b.String()
}
