package main

import (
	"fmt"
	"io"
	"strings"

	"example.com/animalstore/conformance"
)

// progress shows the progress of a run: with -v one line for each check,
// otherwise one line that changes, only on a terminal.
type progress struct {
	w       io.Writer
	verbose bool
	line    bool // show the line that changes
	ended   int
	failed  int
}

func newProgress(w io.Writer, verbose bool) *progress {
	return &progress{w: w, verbose: verbose, line: !verbose && isTerminal(w)}
}

// done is called as each check ends.
func (p *progress) done(r conformance.Result) {
	p.ended++
	if r.Verdict == conformance.Fail && r.Known == "" {
		p.failed++
	}
	switch {
	case p.verbose && r.Verdict == conformance.Skip: // the report names the skipped checks
	case p.verbose:
		message := ""
		if r.Message != "" {
			message = ": " + strings.ReplaceAll(r.Message, "\n", " ")
		}
		fmt.Fprintf(p.w, "%-12s %s (%d requests, %.3f s)%s\n", r.Verdict, r.ID, r.Sent, r.Seconds, message)
	case p.line:
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d checks, %d failed", p.ended, len(conformance.Checks()), p.failed)
	}
}

// end clears the line.
func (p *progress) end() {
	if p.line && p.ended > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
