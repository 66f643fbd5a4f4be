package serve

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/version"
)

// newProgram returns a program with a command that prints what it was given.
func newProgram() *Program {
	var name string
	var wait, pause time.Duration
	shared := func(fs *flag.FlagSet) {
		fs.StringVar(&name, "pet-name", "Rex", "`name` of the pet")
		fs.DurationVar(&wait, "wait", time.Second, "`duration` to wait")
	}
	return &Program{Name: "prog", About: "a program", StoreFlags: shared, Commands: []Command{{
		Name:  "show off",
		Args:  "[WORD]",
		About: "show the flags",
		Flags: func(fs *flag.FlagSet) {
			shared(fs)
			fs.DurationVar(&pause, "pause", 0, "`duration` to rest")
			fs.Bool("inside", false, "")
		},
		Run: func(c *Call) error {
			switch name {
			case "fail":
				return errors.New("first\nsecond\r\nthird")
			case "misuse":
				return fmt.Errorf("wrapped: %w", &UsageError{"misused"})
			}
			_, err := fmt.Fprintf(c.Stdout, "%s %v %v", name, wait, c.Args)
			return err
		},
	}}}
}

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name   string
		args   string
		env    map[string]string
		code   int
		stdout string
		stderr string
	}{
		{"defaults", "show off", nil, 0, "Rex 1s []", ""},
		{"flags", "show off -pet-name=Tom -wait 2s", nil, 0, "Tom 2s []", ""},
		{"flags after an argument", "show off a -wait=2s b", nil, 0, "Rex 2s [a b]", ""},
		{"environment", "show off", map[string]string{"PETSTORE_PET_NAME": "Tom"}, 0, "Tom 1s []", ""},
		{"flag before environment", "show off -pet-name=Rex", map[string]string{"PETSTORE_PET_NAME": "Tom"}, 0, "Rex 1s []", ""},
		{"empty environment", "show off", map[string]string{"PETSTORE_WAIT": ""}, 0, "Rex 1s []", ""},
		{"bad environment", "show off", map[string]string{"PETSTORE_WAIT": "x"}, 2, "", "prog: invalid value \"x\" for PETSTORE_WAIT: must be a number with a unit (h, m, s), as in 5s or 720h (30 days); see prog show off -h\n"},
		{"bad environment, not used", "show off -wait=2s", map[string]string{"PETSTORE_WAIT": "x"}, 0, "Rex 2s []", ""},
		{"bad flag", "show off -wait=x", nil, 2, "", "prog: invalid value \"x\" for flag -wait: must be a number with a unit (h, m, s), as in 5s or 720h (30 days); see prog show off -h\n"},
		{"no unit", "show off -wait=5", nil, 2, "", "prog: invalid value \"5\" for flag -wait: must be a number with a unit (h, m, s), as in 5s or 720h (30 days); see prog show off -h\n"},
		{"days", "keys create -expires 30d a", nil, 2, "", "prog: invalid value \"30d\" for flag -expires: must be a number with a unit (h, m, s), as in 5s or 720h (30 days); see prog keys create -h\n"},
		{"boolean flag that is neither true nor false", "-access-log=yes", nil, 2, "", "prog: invalid boolean value \"yes\" for -access-log: must be true or false; see prog -h\n"},
		{"boolean environment that is neither true nor false", "", map[string]string{"PETSTORE_ACCESS_LOG": "yes"}, 2, "", "prog: invalid value \"yes\" for PETSTORE_ACCESS_LOG: must be true or false; see prog -h\n"},
		{"environment of a flag of its own", "show off", map[string]string{"PETSTORE_PAUSE": "x"}, 0, "Rex 1s []", ""},
		{"out of range", "show off -wait=99999999h", nil, 2, "", "prog: invalid value \"99999999h\" for flag -wait: must be between -2562047h and 2562047h; see prog show off -h\n"},
		{"address with a scheme", "-admin-addr=http://localhost", nil, 2, "", "prog: -admin-addr \"http://localhost\": must be host:port without a scheme, as in 127.0.0.1:8080 or :8080; see prog -h\n"},
		{"unknown flag", "show off -wiat=x", nil, 2, "", "prog: flag provided but not defined: -wiat; see prog show off -h\n"},
		{"error of several lines", "show off -pet-name=fail", nil, 1, "", "prog: first second third\n"},
		{"usage error", "show off -pet-name=misuse", nil, 2, "", "prog: wrapped: misused; see prog show off -h\n"},
		{"version", "-version", nil, 0, "prog " + version.String() + "\n", ""},
		{"version of something", "version of", nil, 2, "", "prog: unexpected argument \"of\"; see prog version -h\n"},
		{"half a command", "show", nil, 2, "", "prog: show needs one of: show off; see prog -h\n"},
		{"unknown command", "hide", nil, 2, "", "prog: unknown command \"hide\"; see prog -h\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			getenv := func(name string) string { return tt.env[name] }
			code := newProgram().run(context.Background(), strings.Fields(tt.args), getenv, &stdout, &stderr)
			if code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("code %d, standard output %q, standard error %q; want %d, %q, %q",
					code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestUsageText(t *testing.T) {
	getenv := func(string) string { return "" }
	for args, want := range map[string][]string{
		"-h":          {"prog: a program", "prog [serve] [flags]", "prog keys create [flags] ACCOUNT", "prog show off [flags] [WORD]", "-base-path path  (PETSTORE_BASE_PATH)\n", "(default /v1)"},
		"show off -h": {"Usage: prog show off [flags] [WORD]", "-pet-name name  (PETSTORE_PET_NAME)\n        name of the pet (default Rex)\n", "-pause duration\n"},
		"keys -h":     {"Usage: prog keys COMMAND", "prog keys create [flags] ACCOUNT", "prog keys revoke [flags] ID"},
		"version -h":  {"Usage: prog version\n"},
	} {
		var stdout, stderr bytes.Buffer
		if code := newProgram().run(context.Background(), strings.Fields(args), getenv, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
			t.Errorf("%s: code %d, %s", args, code, &stderr)
		}
		if strings.Contains(stdout.String(), "-inside") {
			t.Errorf("%s shows what is for the program's own use:\n%s", args, &stdout)
		}
		for _, part := range want {
			if !strings.Contains(stdout.String(), part) {
				t.Errorf("%s lacks %q:\n%s", args, part, &stdout)
			}
		}
	}
}

func TestBasePath(t *testing.T) {
	for s, want := range map[string]string{"/": "/", "/v1": "/v1", "/a/b-c.d_e~f": "/a/b-c.d_e~f"} {
		var b basePath
		if err := b.Set(s); err != nil || b.String() != want {
			t.Errorf("Set(%q): %v, then %q", s, err, b.String())
		}
	}
	for _, s := range []string{"", "v1", "/v1/", "//v1", "/a//b", "/a/../b", "/.", "/..", "/a b", "/a%20b", "/a?b", "/ä", "http://x/v1"} {
		var b basePath
		if err := b.Set(s); err == nil {
			t.Errorf("Set(%q) took it", s)
		}
	}
}
