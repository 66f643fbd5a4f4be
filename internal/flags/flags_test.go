package flags_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/internal/flags"
)

// The scripts of internal/test/systemtest show the other errors, and the help, of
// both programs.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		code   int
		prints string
	}{
		{nil, 0, ""},
		{errors.New("first\nsecond\nthird"), 1, "prog: first second third\n"},
		{fmt.Errorf("wrapped: %w", flags.Usagef("misused")), 2, "prog: wrapped: misused; see prog -h\n"},
		{flags.Exit(5), 5, ""},
	} {
		run := func(*flags.Call) error { return tt.err }
		p := &flags.Program{Name: "prog", Commands: []flags.Command{{Name: "go", Args: "WORD", Run: run}}}
		var stdout, stderr bytes.Buffer
		code := p.Run(flags.Call{Args: strings.Fields("go -- -wait"), Stdout: &stdout, Stderr: &stderr})
		if code != tt.code || stderr.String() != tt.prints || stdout.Len() > 0 {
			t.Errorf("%v: code %d, standard output %q, standard error %q", tt.err, code, &stdout, &stderr)
		}
	}
}
