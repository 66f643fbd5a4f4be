package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// Text writes r for a person: what the target does wrong first, the outcome last. It
// shows the proof of the first failure, and if it is verbose, of every failure and
// warning.
func Text(w io.Writer, r *conformance.Report, verbose bool) error {
	t := &textWriter{report: r, verbose: verbose}
	t.lines(conformance.Fail)
	t.lines(conformance.Warn)
	if verbose {
		t.lines(conformance.Skip)
	}
	t.proofs()
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

type textWriter struct {
	strings.Builder
	report  *conformance.Report
	verbose bool
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// lines writes a line for each result with a verdict.
func (t *textWriter) lines(v conformance.Verdict) {
	for _, r := range t.report.Results {
		if r.Verdict == v {
			t.printf("%s %s: %s\n", strings.ToUpper(string(v)), r.ID, r.Headline())
		}
	}
}

// proofs writes the details of violations.
func (t *textWriter) proofs() {
	shown := false
	for _, r := range t.report.Results {
		if r.Proof == nil || !t.verbose && (shown || r.Verdict != conformance.Fail) {
			continue
		}
		shown = true
		t.printf("\n%s %s\n", strings.ToUpper(string(r.Verdict)), r.ID)
		for line := range strings.Lines(r.Details()) {
			t.printf("  %s", line)
		}
	}
	if shown {
		t.printf("\n")
	}
	if shown && !t.verbose {
		t.printf("-v shows every failed check with its curl command\n")
	}
}

func (t *textWriter) summary() {
	r := t.report
	var unserved []string
	for _, reason := range slices.Sorted(maps.Keys(r.Unserved)) {
		unserved = append(unserved, fmt.Sprintf("%s (%d)", reason, r.Unserved[reason]))
	}
	if unserved != nil {
		t.printf("requests that were not served, and mostly sent again: %s; see the target's log\n", strings.Join(unserved, ", "))
	}
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %s, %.1f s\n", probe.Plural(r.Requests, "request"), r.Seconds)
	if r.Left != "" {
		t.printf("left behind: %s\n", r.Left)
	}
	if r.Reason != "" {
		t.printf("%s\n", r.Reason)
	}
	t.printf("%s\n", r.Headline())
}
