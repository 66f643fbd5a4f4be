package report

import (
	"fmt"
	"io"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// Whatever the target does wrong, a text that is not verbose fits on a screen. On a
// conformant target it has at most 10 lines.
var textLimits = limits{failures: 8, warnings: 5}

// textWriter writes a report for a person: what the target does wrong first, the
// verdict last, where a terminal stops.
type textWriter struct {
	strings.Builder
	Options
	report *conformance.Report
}

func writeText(w io.Writer, r *conformance.Report, opts Options) error {
	t := &textWriter{report: r, Options: opts}
	most := textLimits
	if t.Verbose {
		most = limits{}
	}
	lines := attention(r, most)
	for _, l := range lines {
		t.line(l)
	}
	if len(lines) > 0 && len(lines[0].results) > 0 && lines[0].results[0].CountsAgainst(r.Level) {
		t.first(lines[0].results[0])
	}
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// paint returns s in the color of v.
func (t *textWriter) paint(v conformance.Verdict, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + lookOf(v).color + "m" + s + "\x1b[0m"
}

// line writes l. A verbose text also has each check of a cause, with its curl command.
func (t *textWriter) line(l line) {
	t.printf("%s %s: %s", t.paint(l.verdict, strings.ToUpper(l.word)), l.subject, oneLine(l.what))
	if n := len(l.results); n > 1 {
		t.printf(" (clause %s; first %s)", l.section, l.results[0].ID)
	} else if n == 1 {
		t.printf(" (clause %s)", l.section)
	}
	t.printf("\n")
	if !t.Verbose {
		return
	}
	for _, result := range l.results {
		message, more, _ := strings.Cut(result.Message, "\n")
		if len(l.results) > 1 || message != l.what {
			t.printf("  %s: %s\n", result.ID, message)
		}
		if more != "" {
			t.printf("    %s\n", strings.ReplaceAll(more, "\n", "\n    "))
		}
		if result.Proof >= 0 {
			t.printf("    %s\n", result.Exchanges[result.Proof].Curl)
		}
	}
}

// first writes the details of the first failure.
func (t *textWriter) first(result conformance.Result) {
	t.printf("\n%s %s\n", t.paint(result.Verdict, strings.ToUpper(string(result.Verdict))), result.ID)
	lines := shortDetails(result)
	if t.Verbose {
		lines = strings.Split(strings.TrimSuffix(result.Details(), "\n"), "\n")
	}
	for _, line := range lines {
		t.printf("%s\n", strings.TrimRight("  "+line, " "))
	}
	t.printf("\n")
	if !t.Verbose && t.report.Counts.Fail > 1 {
		t.printf("-v shows every failed check with its curl command\n")
	}
}

func (t *textWriter) summary() {
	r := t.report
	if len(r.Retries) > 0 {
		t.printf("requests were sent again after: %s; see the target's log, or load it less with -rate N\n", retries(r))
	}
	t.printf("%s", name(r))
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %.1f s, seed %d\n", r.Seconds, r.Seed)
	if len(r.Left.Pets) > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, named %s…\n", probe.Plural(len(r.Left.Pets), "pet"), idRange(r.Left.Pets), probe.Plural(r.Left.Messages, "message"), r.Left.Mark)
	}
	t.printf("%s\n", t.paint(colorOf(r), r.Headline()))
}
