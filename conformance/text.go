package conformance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// WriteText writes r for a person: why the target cannot be judged, if it cannot, then what it
// does wrong, and the outcome last. It shows the proof of the first failure; a verbose report
// has the skipped checks too, and the proof of every failure and warning.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	t := &textWriter{report: r, verbose: verbose}
	if r.Reason != "" {
		t.printf("%s\n", r.Reason)
	}
	t.lines(Fail)
	t.lines(Warn)
	if verbose {
		t.lines(Skip)
	}
	t.proofs()
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

type textWriter struct {
	strings.Builder
	report  *Report
	verbose bool
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// lines writes a line for each result with a verdict.
func (t *textWriter) lines(v Verdict) {
	for _, r := range t.report.Results {
		if r.Verdict == v {
			t.printf("%s %s [section %s]: %s\n", strings.ToUpper(string(v)), r.ID, r.Section, r.Headline())
		}
	}
}

// proofs writes the details of violations.
func (t *textWriter) proofs() {
	shown := false
	for _, v := range []Verdict{Fail, Warn} {
		for _, r := range t.report.Results {
			if r.Verdict != v || !t.verbose && (shown || v == Warn) {
				continue
			}
			shown = true
			t.printf("\n%s %s\n", strings.ToUpper(string(v)), r.ID)
			for line := range strings.Lines(r.Details()) {
				t.printf("  %s", line)
			}
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
		t.printf("requests that were not served, and mostly sent again: %s; see the target's log\n",
			strings.Join(unserved, ", "))
	}
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %s, %.1f s\n", probe.Plural(r.Requests, "request"), r.Seconds)
	if r.Left != "" {
		t.printf("left behind: %s\n", r.Left)
	}
	t.printf("%s\n", r.Headline())
}

// Headline returns the outcome and every count, in one line.
func (r *Report) Headline() string {
	skipped := make(map[string]int) // by reason
	for _, result := range r.Results {
		if result.Verdict == Skip {
			skipped[result.Message]++
		}
	}
	parts := []string{
		fmt.Sprintf("%s: %d passed", probe.Plural(len(r.Results), "check"), r.Counts[Pass]),
		fmt.Sprintf("%d failed", r.Counts[Fail]),
	}
	if n := r.Counts[Warn]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d with warnings", n))
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		parts = append(parts, fmt.Sprintf("%d skipped (%s)", skipped[reason], reason))
	}
	return string(r.Outcome) + ": " + strings.Join(parts, ", ")
}

// Headline returns one line without the check's ID and verdict: the first line of the message,
// how many of the judged exchanges are violations, unless all are, and what is particular
// about the next violation.
func (r Result) Headline() string {
	line, _, _ := strings.Cut(r.Message, "\n")
	if r.Violations != r.Judged && r.Violations != 0 {
		line = fmt.Sprintf("%s (%d of %d)", line, r.Violations, r.Judged)
	}
	const shown = 5
	if n := len(r.Kinds); n > shown+1 {
		line += fmt.Sprintf("; also: %s and %d more", strings.Join(r.Kinds[1:shown], "; "), n-shown)
	} else if n > 1 {
		line += "; also: " + strings.Join(r.Kinds[1:], "; ")
	}
	return line
}

// Details returns the message of r, the section that is violated, all that is particular
// about the exchanges that violate it, and the proof with its curl command.
func (r Result) Details() string {
	_, more, _ := strings.Cut(r.Message, "\n")
	details := fmt.Sprintf("%s\n%s\nsection %s: %s\n", r.Headline(), more, r.Section, r.Title)
	if len(r.Kinds) > 6 {
		details += "all kinds: " + strings.Join(r.Kinds, "; ") + "\n"
	}
	if r.Before != nil {
		details += "send this first (if its response has another id, use that one):\n" + r.Before.Curl + "\n"
	}
	if r.Proof != nil {
		details += r.Proof.String()
	}
	return firstLines(strings.ReplaceAll(details, "\n\n", "\n"))
}

// firstLines returns the first lines of s, each cut to a readable length, but for curl
// commands and lists of kinds.
func firstLines(s string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(s) {
		if n++; n > 24 {
			return b.String() + "…\n"
		}
		if !strings.Contains(line, "curl ") && !strings.HasPrefix(line, "all kinds: ") {
			line = probe.Cut(strings.TrimSuffix(line, "\n"), 240) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
