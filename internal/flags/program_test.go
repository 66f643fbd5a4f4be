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
	define := func(fs *flag.FlagSet) {
		fs.StringVar(&name, "pet-name", "Rex", "`name` of the pet")
		fs.DurationVar(&wait, "wait", time.Second, "`duration` to wait")
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
		_, err := fmt.Fprintln(c.Stdout, name, wait, c.Args, c.Given)
		return err
	}
	return &flags.Program{
		Name:    "prog",
		About:   "a program",
		Notes:   "the notes\n",
		Default: "go",
		Failure: 3,
		Env:     map[string]string{"pet-name": "PROG_PET_NAME", "wait": "PROG_WAIT"},
		Commands: []flags.Command{
			{Name: "go", About: "go there", Flags: define, Run: run},
			{Name: "show all", Args: "WORD...", About: "show words", Flags: define, Run: run},
			{Name: "show one", Args: "WORD", About: "show a word", Run: run},
		},
	}
}

func TestRun(t *testing.T) {
	const names = "must be one of go, show all, show one, help, version; see prog -h\n"
	type env map[string]string
	for _, tt := range []struct {
		args   string
		env    env
		code   int
		stdout string // a part
		stderr string // without the name of the program
	}{
		{"", nil, 0, "Rex 1s [] []\n", ""},
		{"go", nil, 0, "Rex 1s [] []\n", ""},
		{"-pet-name=Tom -wait 2s", nil, 0, "Tom 2s [] [pet-name wait]\n", ""},
		{"show all -wait=2s a b", nil, 0, "Rex 2s [a b] [wait]\n", ""},
		{"show all -- -wait", nil, 0, "Rex 1s [-wait] []\n", ""},
		{"", env{"PROG_PET_NAME": "Tom"}, 0, "Tom 1s [] []\n", ""},
		{"-pet-name=Rex", env{"PROG_PET_NAME": "Tom"}, 0, "Rex 1s [] [pet-name]\n", ""},
		{"", env{"PROG_WAIT": ""}, 0, "Rex 1s", ""},
		{"", env{"PROG_WAIT": "x"}, 2, "", `invalid value "x" for PROG_WAIT: parse error; see prog go -h` + "\n"},
		{"-wait=1s", env{"PROG_WAIT": "x"}, 0, "Rex 1s", ""},
		{"-wait=5", nil, 2, "", `invalid value "5" for flag -wait: parse error; see prog go -h` + "\n"},
		{"show all -wiat=x", nil, 2, "", "flag provided but not defined: -wiat; see prog show all -h\n"},
		{"go there", nil, 2, "", `unexpected argument "there"; see prog go -h` + "\n"},
		{"show one", nil, 2, "", "needs one WORD after the flags, got []; see prog show one -h\n"},
		{"show one a b", nil, 2, "", `needs one WORD after the flags, got ["a" "b"]; see prog show one -h` + "\n"},
		{"show all", nil, 2, "", "needs one WORD after the flags, got []; see prog show all -h\n"},
		{"show", nil, 2, "", `unknown command "show": ` + names},
		{"show one-more", nil, 2, "", `unknown command "show one-more": ` + names},
		{"-pet-name=fail", nil, 3, "", "first second third\n"},
		{"-pet-name=misuse", nil, 2, "", "wrapped: misused; see prog go -h\n"},
		{"-pet-name=exit", nil, 5, "", ""},
		{"version", nil, 0, "prog " + version.String() + "\n", ""},
		{"--version", nil, 0, "prog " + version.String() + "\n", ""},
		{"version of", nil, 2, "", `unexpected argument "of"; see prog version -h` + "\n"},
		{"-h", nil, 0, "  prog [go] [flags]\n    \tgo there\n", ""},
		{"--help", nil, 0, "  -wait duration\n    \tduration to wait (PROG_WAIT) (default 1s)\nthe notes\n", ""},
		{"help", nil, 0, "  prog show one WORD\n", ""},
		{"go -h", nil, 0, "Usage: prog [go] [flags]\n", ""},
		{"show all -h", nil, 0, "  -pet-name name\n", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			getenv := func(name string) string { return tt.env[name] }
			if tt.stderr != "" {
				tt.stderr = "prog: " + tt.stderr
			}
			code := newProgram().Run(flags.Call{Args: strings.Fields(tt.args), Getenv: getenv, Stdout: &stdout, Stderr: &stderr})
			if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || (tt.stdout == "") != (stdout.Len() == 0) || stderr.String() != tt.stderr {
				t.Errorf("code %d, standard output %q, standard error %q; want %d, %q, %q",
					code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestNoDefault(t *testing.T) {
	p := &flags.Program{Name: "prog", Commands: []flags.Command{{Name: "go", Run: func(*flags.Call) error { return errors.New("failed") }}}}
	for args, want := range map[string]string{
		"":       "prog: unknown command \"\": must be one of go, help, version; see prog -h\n",
		"-quick": "prog: unknown command \"-quick\": must be one of go, help, version; see prog -h\n",
		"go":     "prog: failed\n",
	} {
		var stderr bytes.Buffer
		code := p.Run(flags.Call{Args: strings.Fields(args), Stderr: &stderr})
		if wantCode := 1 + strings.Count(want, "see prog"); code != wantCode || stderr.String() != want {
			t.Errorf("%q: code %d, want %d; standard error %q, want %q", args, code, wantCode, &stderr, want)
		}
	}
}
