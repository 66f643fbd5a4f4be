package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// A text that is not verbose fits on a screen, whatever the target does wrong.
const (
	screen      = 40  // lines
	end         = 8   // lines of the summary, and blank ones
	maxFailures = 12  // lines for the causes of failures
	minWarnings = 5   // lines for the causes of warnings, even if there is no room
	minDetails  = 16  // lines for the first failure, even if there is no room
	maxReasons  = 3   // messages in one line
	maxLine     = 200 // bytes of a message
)

// textWriter writes a report for a person: what the target does wrong first, the
// verdict last, where a terminal stops.
type textWriter struct {
	strings.Builder
	Options
	report *conformance.Report
}

func writeText(w io.Writer, r *conformance.Report, opts Options) error {
	t := &textWriter{report: r, Options: opts}
	causes := r.Causes()
	against := len(causes) > 0 && causes[0].Results[0].CountsAgainst(r.Level)
	t.causes(conformance.Fail, causes, maxFailures)
	room := t.room() - 2 // errors and inconclusive checks have a line each
	if against {
		room -= minDetails
	}
	t.causes(conformance.Warn, causes, max(room, minWarnings))
	t.others(conformance.Errored)
	t.others(conformance.Inconclusive)
	for _, result := range r.Results {
		switch {
		case result.Stale:
			t.printf("%s %s passes, and is on the list of known failures: %s\n", t.paint(conformance.Fail, "STALE"), result.ID, result.Known)
		case t.Verbose && word(result) == "known":
			t.printf("%s %s: %s (%s)\n", t.paint(result.Verdict, "KNOWN"), result.ID, oneLine(result.Message, maxDetailLine), result.Known)
		}
	}
	if against {
		t.full(causes[0].Results[0], max(t.room(), minDetails))
		t.printf("\n")
	}
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

// room returns how many more lines fit on the screen before the summary.
func (t *textWriter) room() int {
	if t.Verbose {
		return math.MaxInt
	}
	return screen - end - strings.Count(t.String(), "\n")
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// paint returns s in the color of v.
func (t *textWriter) paint(v conformance.Verdict, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + lookOf(v).color + "m" + s + "\x1b[0m"
}

// word returns v in capitals.
func (t *textWriter) word(v conformance.Verdict) string {
	return t.paint(v, strings.ToUpper(string(v)))
}

// causes writes a line for each cause with a verdict. If there are more than limit,
// the last line counts the others. A verbose text has all, and each check of a
// cause.
func (t *textWriter) causes(v conformance.Verdict, causes []conformance.Cause, limit int) {
	causes = slices.DeleteFunc(slices.Clone(causes), func(c conformance.Cause) bool { return c.Verdict != v })
	rest := 0
	for i, c := range causes {
		if !t.Verbose && len(causes) > limit && i >= limit-1 {
			rest += len(c.Results)
			continue
		}
		t.cause(c)
		if t.Verbose {
			t.checks(c)
		}
	}
	if rest > 0 {
		t.printf("%s %s for %s (-v shows them)\n", t.word(v), probe.Plural(rest, "more check"), probe.Plural(len(causes)-limit+1, "other cause"))
	}
}

func (t *textWriter) cause(c conformance.Cause) {
	cl, _ := conformance.FindClause(c.Clause)
	checks, first := c.Results[0].ID, ""
	if n := len(c.Results); n > 1 {
		checks, first = probe.Plural(n, "check"), "; first "+checks
	}
	t.printf("%s %s: %s (%s%s)\n", t.word(c.Verdict), checks, oneLine(c.What, maxLine), cl.Section, first)
}

// checks writes a line for each check of c, unless the line of c has its message. If
// the check counts against the target, the rest of the message and the curl command
// follow.
func (t *textWriter) checks(c conformance.Cause) {
	for _, result := range c.Results {
		message, more, _ := strings.Cut(result.Message, "\n")
		if len(c.Results) > 1 || message != oneLine(c.What, maxLine) {
			t.printf("  %s: %s\n", result.ID, message)
		}
		if !result.CountsAgainst(t.report.Level) {
			continue
		}
		if more != "" {
			t.printf("    %s\n", strings.ReplaceAll(more, "\n", "\n    "))
		}
		if result.Proof >= 0 {
			t.printf("    %s\n", result.Exchanges[result.Proof].Curl)
		}
	}
}

// others writes the results with a verdict that has no causes: in a verbose text one
// line for each, otherwise one for all, with their most frequent messages.
func (t *textWriter) others(v conformance.Verdict) {
	results := with(t.report, v)
	count := make(map[string]int)
	for _, result := range results {
		if t.Verbose || len(results) == 1 {
			t.printf("%s %s: %s\n", t.word(v), result.ID, oneLine(result.Message, maxDetailLine))
		}
		count[oneLine(result.Message, maxLine)]++
	}
	if !t.Verbose && len(results) > 1 {
		t.printf("%s %s: %s\n", t.word(v), probe.Plural(len(results), "check"), mostFrequent(count))
	}
}

// mostFrequent returns some of the keys with their counts.
func mostFrequent(count map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	var parts []string
	for _, key := range keys[:min(len(keys), maxReasons)] {
		parts = append(parts, fmt.Sprintf("%s (%d)", key, count[key]))
	}
	if more := len(keys) - len(parts); more > 0 {
		parts = append(parts, probe.Plural(more, "other reason"))
	}
	return strings.Join(parts, "; ")
}

// retries returns why the suite sent requests again, and how many at a time it then
// sent.
func retries(r *conformance.Report) string {
	s := mostFrequent(r.Retries)
	if r.Limit > 0 {
		s += fmt.Sprintf("; then at most %s at a time", probe.Plural(r.Limit, "request"))
	}
	return s
}

// full writes a result with at most limit lines of its details. If there are more, it
// first leaves out the request, which the curl command shows too.
func (t *textWriter) full(result conformance.Result, limit int) {
	t.printf("\n%s %s\n", t.word(result.Verdict), result.ID)
	lines := strings.Split(strings.TrimSuffix(result.Details(), "\n"), "\n")
	if len(lines) > limit {
		request := 0
		lines = slices.DeleteFunc(lines, func(line string) bool {
			if strings.HasPrefix(line, ">") {
				request++
			}
			return strings.HasPrefix(line, ">") && request > 1
		})
	}
	if len(lines) > limit {
		lines = append(lines[:limit-1], "…")
	}
	for _, line := range lines {
		t.printf("%s\n", strings.TrimRight("  "+line, " "))
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
