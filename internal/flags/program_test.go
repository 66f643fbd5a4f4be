package flags_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/version"
)

// newProgram returns a program whose commands print their flags and arguments.
func newProgram() *flags.Program {
	var name string
	var wait time.Duration
	var loud bool
	var count int
	var addr, form string
	define := func(fs *flag.FlagSet) {
		fs.StringVar(&name, "pet-name", "Rex", "`name` of the pet")
		flags.Var(fs, &wait, "wait", time.Second, "`duration` to wait", flags.Duration(0))
		flags.Var(fs, &loud, "loud", false, "bark", flags.Bool)
		flags.Var(fs, &count, "count", 8, "`number` of barks", flags.Integer(1, 100))
		flags.Var(fs, &addr, "addr", "localhost:80", "`host:port`", flags.HostPort)
		flags.Var(fs, &form, "form", "text", "`text|json`", flags.OneOf("text", "json"))
	}
	run := func(c *flags.Call) error {
		switch name {
		case "fail":
			return errors.New("first\nsecond\r\nthird")
		case "misuse":
			return fmt.Errorf("wrapped: %w", flags.Usagef("misused"))
		case "exit":
			return flags.Exit(5)
		}
		_, err := fmt.Fprintln(c.Stdout, name, wait, loud, count, addr, form, c.Args, c.Given)
		return err
	}
	return &flags.Program{
		Name:    "prog",
		About:   "a program",
		Notes:   "the notes\n",
		Default: "go",
		Failure: 3,
		Env:     map[string]string{"pet-name": "PROG_PET-NAME", "wait": "PROG_WAIT", "loud": "PROG_LOUD"},
		Commands: []flags.Command{
			{Name: "go", About: "go there", Flags: define, Run: run},
			{Name: "show all", Args: "WORD...", About: "show words", Flags: define, Run: run},
			{Name: "show one", Args: "WORD", About: "show a word", Run: run},
		},
	}
}

func TestRun(t *testing.T) {
	const duration = "must be a number with a unit (h, m, s), as in 5s or 720h (30 days), and at most 2562047h"
	const defaults = "Rex 1s false 8 localhost:80 text "
	const usage = "; see prog -h\n"
	type env map[string]string
	tests := []struct {
		name   string
		args   string
		env    env
		code   int
		stdout string
		stderr string // without the name of the program
	}{
		{"default command", "", nil, 0, defaults + "[] []\n", ""},
		{"default command by name", "go", nil, 0, defaults + "[] []\n", ""},
		{"flags", "-pet-name=Tom -wait 2s --loud -count=2 -addr=:0 -form=json", nil, 0, "Tom 2s true 2 :0 json [] [addr count form loud pet-name wait]\n", ""},
		{"flags between arguments", "show all a -wait=2s b", nil, 0, "Rex 2s false 8 localhost:80 text [a b] [wait]\n", ""},
		{"argument that starts with a hyphen", "show all -- -wait", nil, 0, defaults + "[-wait] []\n", ""},
		{"environment", "", env{"PROG_PET-NAME": "Tom", "PROG_LOUD": "true"}, 0, "Tom 1s true 8 localhost:80 text [] []\n", ""},
		{"flag before environment", "-pet-name=Rex", env{"PROG_PET-NAME": "Tom"}, 0, defaults + "[] [pet-name]\n", ""},
		{"empty environment", "", env{"PROG_WAIT": ""}, 0, defaults + "[] []\n", ""},
		{"flag without an environment variable", "", env{"PROG_COUNT": "x"}, 0, defaults + "[] []\n", ""},
		{"bad environment", "", env{"PROG_WAIT": "x"}, 2, "", `invalid value "x" for PROG_WAIT: ` + duration + usage},
		{"bad environment, not used", "-wait=1s", env{"PROG_WAIT": "x"}, 0, defaults + "[] [wait]\n", ""},
		{"bad boolean in the environment", "", env{"PROG_LOUD": "yes"}, 2, "", `invalid value "yes" for PROG_LOUD: must be true or false` + usage},

		{"bad boolean", "-loud=yes", nil, 2, "", `invalid boolean value "yes" for -loud: must be true or false` + usage},
		{"bad duration", "-wait=x", nil, 2, "", `invalid value "x" for flag -wait: ` + duration + usage},
		{"duration without a unit", "-wait=5", nil, 2, "", `invalid value "5" for flag -wait: ` + duration + usage},
		{"duration in days", "-wait=30d", nil, 2, "", `invalid value "30d" for flag -wait: ` + duration + usage},
		{"duration out of range", "-wait=99999999h", nil, 2, "", `invalid value "99999999h" for flag -wait: ` + duration + usage},
		{"negative duration", "-wait=-1s", nil, 2, "", `invalid value "-1s" for flag -wait: must be at least 0s` + usage},
		{"bad integer", "-count=x", nil, 2, "", `invalid value "x" for flag -count: must be an integer from 1 to 100` + usage},
		{"integer too small", "-count=0", nil, 2, "", `invalid value "0" for flag -count: must be an integer from 1 to 100` + usage},
		{"integer too large", "-count=101", nil, 2, "", `invalid value "101" for flag -count: must be an integer from 1 to 100` + usage},
		{"address with a scheme", "-addr=http://localhost", nil, 2, "", `invalid value "http://localhost" for flag -addr: must be host:port without a scheme, as in 127.0.0.1:8080 or :8080` + usage},
		{"address without a port", "-addr=localhost", nil, 2, "", `invalid value "localhost" for flag -addr: must be host:port without a scheme, as in 127.0.0.1:8080 or :8080` + usage},
		{"address with an invalid port", "-addr=:65536", nil, 2, "", `invalid value ":65536" for flag -addr: must be host:port without a scheme, as in 127.0.0.1:8080 or :8080` + usage},
		{"unknown word", "-form=xml", nil, 2, "", `invalid value "xml" for flag -form: must be text or json` + usage},
		{"unknown flag", "show all -wiat=x", nil, 2, "", "flag provided but not defined: -wiat; see prog show all -h\n"},

		{"argument too many", "go there", nil, 2, "", `unexpected argument "there"` + usage},
		{"no argument of one", "show one", nil, 2, "", "show one needs one WORD; see prog show one -h\n"},
		{"two arguments of one", "show one a b", nil, 2, "", "show one needs one WORD; see prog show one -h\n"},
		{"no argument of many", "show all", nil, 2, "", "show all needs at least one WORD; see prog show all -h\n"},
		{"half a command and another word", "show one-more", nil, 2, "", `unknown command "show one-more": must be one of go, show all, show one, version, help` + usage},
		{"half a command", "show", nil, 2, "", `unknown command "show": must be one of go, show all, show one, version, help` + usage},
		{"unknown command", "hide", nil, 2, "", `unknown command "hide": must be one of go, show all, show one, version, help` + usage},

		{"error of several lines", "-pet-name=fail", nil, 3, "", "first second third\n"},
		{"usage error", "-pet-name=misuse", nil, 2, "", "wrapped: misused" + usage},
		{"exit code", "-pet-name=exit", nil, 5, "", ""},
		{"version", "-version", nil, 0, "prog " + version.String() + "\n", ""},
		{"version of something", "version of", nil, 2, "", `unexpected argument "of"; see prog version -h` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			getenv := func(name string) string { return tt.env[name] }
			if tt.stderr != "" {
				tt.stderr = "prog: " + tt.stderr
			}
			code := newProgram().Run(flags.Call{Args: strings.Fields(tt.args), Getenv: getenv, Stdout: &stdout, Stderr: &stderr})
			if code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("code %d, standard output %q, standard error %q; want %d, %q, %q",
					code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestNoDefault(t *testing.T) {
	p := &flags.Program{Name: "prog", Commands: []flags.Command{{Name: "go", Run: func(*flags.Call) error { return errors.New("failed") }}}}
	for args, want := range map[string]string{
		"":       "prog: no command: must be one of go, version, help; see prog -h\n",
		"-quick": "prog: unknown command \"-quick\": must be one of go, version, help; see prog -h\n",
		"go":     "prog: failed\n",
	} {
		var stderr bytes.Buffer
		code := p.Run(flags.Call{Args: strings.Fields(args), Stderr: &stderr})
		if wantCode := 1 + strings.Count(want, "see prog"); code != wantCode || stderr.String() != want {
			t.Errorf("%q: code %d, want %d; standard error %q, want %q", args, code, wantCode, &stderr, want)
		}
	}
}

func TestHelp(t *testing.T) {
	program := []string{
		"prog: a program\n", "  prog [go] [flags]\n    \tgo there\n", "  prog show one WORD\n", "  prog version\n",
		"Flags of prog go:\n", "  -wait duration\n    \tduration to wait (PROG_WAIT) (default 1s)\n", "\nthe notes\n",
	}
	for args, want := range map[string][]string{
		"-h":            program,
		"--help":        program,
		"help":          program,
		"go -h":         {"Usage: prog [go] [flags]\n\ngo there\n", "  -loud\n    \tbark (PROG_LOUD)\n"},
		"-loud -h":      {"Usage: prog [go] [flags]\n\ngo there\n"},
		"show all x -h": {"Usage: prog show all [flags] WORD...\n", "  -count number\n    \tnumber of barks (default 8)\n"},
		"show -h":       program,
		"version -h":    {"Usage: prog version\n"},
	} {
		var stdout, stderr bytes.Buffer
		getenv := func(string) string { return "" }
		code := newProgram().Run(flags.Call{Args: strings.Fields(args), Getenv: getenv, Stdout: &stdout, Stderr: &stderr})
		if code != 0 || stderr.Len() > 0 {
			t.Errorf("%s: code %d, %s", args, code, &stderr)
		}
		for _, part := range want {
			if !strings.Contains(stdout.String(), part) {
				t.Errorf("%s lacks %q:\n%s", args, part, &stdout)
			}
		}
	}
}
