package flags_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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
		fs.Int("n", 1, "a number")
		fs.Bool("b", false, "a switch")
		fs.String("url", "x", "a URL")
	}
	run := func(c *flags.Call) error {
		switch name {
		case "fail":
			return errors.New("first\nsecond\nthird")
		case "denied":
			return flags.FileError("-db", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission})
		case "absent":
			return flags.FileError("-db", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist})
		case "misuse":
			return fmt.Errorf("wrapped: %w", flags.Usagef("misused"))
		case "exit":
			return flags.Exit(5)
		}
		_, err := fmt.Fprintln(c.Stdout, name, wait, c.Args)
		return err
	}
	return &flags.Program{
		Name:    "prog",
		About:   "a program",
		Notes:   "the notes\n",
		Default: "go",
		Commands: []flags.Command{
			{Name: "go", About: "go there", Flags: define, Run: run},
			{Name: "show one", Args: "WORD", About: "show a word", Details: "the details", Flags: define, Run: run},
		},
	}
}

func TestRun(t *testing.T) {
	const names = "must be one of go, show one, version; see prog -h\n"
	for _, tt := range []struct {
		args   string
		code   int
		stdout string // a part
		stderr string // without the name of the program
	}{
		{"", 0, "Rex 1s []\n", ""},
		{"go", 0, "Rex 1s []\n", ""},
		{"-pet-name=Tom -wait 2s", 0, "Tom 2s []\n", ""},
		{"show one -wait=2s a", 0, "Rex 2s [a]\n", ""},
		{"show one -- -wait", 0, "Rex 1s [-wait]\n", ""},
		{"-wait=5", 2, "", `invalid value "5" for flag -wait: must be a duration such as 5s; see prog go -h` + "\n"},
		{"show one -wiat=x", 2, "", "flag provided but not defined: -wiat; see prog show one -h\n"},
		{"go there", 2, "", `unexpected argument "there"; see prog go -h` + "\n"},
		{"show one", 2, "", "needs one WORD after the flags, got []; see prog show one -h\n"},
		{"show one a b", 2, "", `needs one WORD after the flags, got ["a" "b"]; see prog show one -h` + "\n"},
		{"-url=", 2, "", "-url: must not be empty; see prog go -h\n"},
		{"http://h -h", 2, "", "unknown command \"http://h -h\": " + names},
		{"-n=x", 2, "", `invalid value "x" for flag -n: must be a whole number; see prog go -h` + "\n"},
		{"-b=-n", 2, "", `invalid boolean value "-n" for -b: must be true or false; see prog go -h` + "\n"},
		{"go http://h", 2, "", `unexpected argument: a URL follows the name of its flag; see prog go -h` + "\n"},
		{"show", 0, "  prog show one [flags] WORD  show a word\n\nprog COMMAND -h", ""},
		{"show -h", 0, "  prog show one [flags] WORD  show a word\n\nprog COMMAND -h", ""},
		{"show two", 2, "", `unknown command "show two": ` + names},
		{"show one-more", 2, "", `unknown command "show one-more": ` + names},
		{"-pet-name=fail", 1, "", "first second third\n"},
		{"-pet-name=denied", 1, "", "-db: open x: permission denied; run this as the user who owns the file, or let this user read and write it\n"},
		{"-pet-name=absent", 1, "", "-db: open x: file does not exist; check the path, and that its volume is mounted\n"},
		{"-pet-name=misuse", 2, "", "wrapped: misused; see prog go -h\n"},
		{"-pet-name=exit", 5, "", ""},
		{"version", 0, "prog " + version.String() + "\n", ""},
		{"version of", 2, "", `unexpected argument "of"; see prog version -h` + "\n"},
		{"-version", 0, "prog " + version.String() + "\n", ""},
		{"--version", 0, "prog " + version.String() + "\n", ""},
		{"-h", 0, "prog: a program\n\n  prog [go] [flags]           go there\n  prog show one [flags] WORD  show a word\n  prog version ", ""},
		{"--help", 0, "\nFlags of go:\n\n  -b\t", ""},
		{"help", 0, "  -wait duration\n    \tduration to wait (default 1s)\n\nthe notes\n", ""},
		{"show one -h", 0, "prog show one [flags] WORD\n\tshow a word\n\tthe details\n  -b\t", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if tt.stderr != "" {
				tt.stderr = "prog: " + tt.stderr
			}
			code := newProgram().Run(flags.Call{Args: strings.Fields(tt.args), Stdout: &stdout, Stderr: &stderr})
			if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || (tt.stdout == "") != (stdout.Len() == 0) || stderr.String() != tt.stderr {
				t.Errorf("code %d, standard output %q, standard error %q; want %d, %q, %q",
					code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}
