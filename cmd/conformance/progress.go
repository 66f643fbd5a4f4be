package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/animalstore/conformance"
)

// progress says how far a run has come: a line for each check if that is
// asked for, else one line that changes, on a terminal only.
type progress struct {
	w       io.Writer
	verbose bool
	line    bool
	total   int
	ended   int
	failed  int
}

func newProgress(w io.Writer, verbose bool) *progress {
	return &progress{w: w, verbose: verbose, line: !verbose && isTerminal(w), total: len(conformance.Checks())}
}

func (p *progress) done(r conformance.Result) {
	p.ended++
	if r.Verdict == conformance.Fail && r.Known == "" {
		p.failed++
	}
	switch {
	case p.verbose && r.Verdict == conformance.Skip: // the report names them
	case p.verbose:
		fmt.Fprintf(p.w, "%-12s %s (%d requests, %.3f s)%s\n", r.Verdict, r.ID, r.Sent, r.Seconds, after(r))
	case p.line:
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d checks, %d failed", p.ended, p.total, p.failed)
	}
}

func after(r conformance.Result) string {
	if r.Message == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(r.Message, "\n", " ")
}

// end clears the line.
func (p *progress) end() {
	if p.line && p.ended > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
