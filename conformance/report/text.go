package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// A text that is not verbose fits on a screen, whatever the target does wrong.
const (
	screen      = 40  // lines
	maxFailures = 12  // lines for the causes of failures
	maxWarnings = 5   // lines for the causes of warnings
	maxReasons  = 3   // messages in one line
	maxLine     = 160 // bytes of a message
)

// textWriter writes a report for a person: what the target does wrong first, the
// verdict last, where a terminal stops.
type textWriter struct {
	strings.Builder
	report  *conformance.Report
	color   bool
	verbose bool
}

func writeText(w io.Writer, r *conformance.Report, color, verbose bool) error {
	t := &textWriter{report: r, color: color, verbose: verbose}
	causes := r.Causes()
	t.causes(conformance.Fail, causes, maxFailures)
	t.causes(conformance.Warn, causes, maxWarnings)
	if !verbose {
		t.briefly(conformance.Errored)
		t.briefly(conformance.Inconclusive)
	}
	for _, result := range r.Results {
		if result.Stale {
			t.printf("%s %s passes, and is on the list of known failures: %s\n", t.paint(conformance.Fail, "STALE"), result.ID, result.Known)
		}
	}
	if verbose {
		t.all(causes)
	} else if len(causes) > 0 && causes[0].Results[0].CountsAgainst(r.Level) {
		const end = 8 // the summary, and blank lines
		t.full(causes[0].Results[0], max(screen-end-strings.Count(t.String(), "\n"), 16))
	}
	if strings.Contains(t.String(), "\n\n") || verbose {
		t.printf("\n")
	}
	t.summary()
	_, err := io.WriteString(w, strings.TrimLeft(t.String(), "\n"))
	return err
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// paint returns s in the color of v.
func (t *textWriter) paint(v conformance.Verdict, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + lookOf(v).color + "m" + s + "\x1b[0m"
}

// word returns v in capitals.
func (t *textWriter) word(v conformance.Verdict) string {
	return t.paint(v, strings.ToUpper(string(v)))
}

// causes writes a line for each cause with a verdict. If there are more than limit,
// the last line counts the others.
func (t *textWriter) causes(v conformance.Verdict, causes []conformance.Cause, limit int) {
	causes = slices.DeleteFunc(slices.Clone(causes), func(c conformance.Cause) bool { return c.Verdict != v })
	rest := 0
	for i, c := range causes {
		if !t.verbose && len(causes) > limit && i >= limit-1 {
			rest += len(c.Results)
			continue
		}
		cl, _ := conformance.FindClause(c.Clause)
		checks, first := c.Results[0].ID, ""
		if n := len(c.Results); n > 1 {
			checks, first = probe.Plural(n, "check"), "; first "+checks
		}
		t.printf("%s %s: %s (%s%s)\n", t.word(v), checks, probe.Cut(c.What, maxLine), cl.Section, first)
	}
	if rest > 0 {
		t.printf("%s %s for %s (-v shows them)\n", t.word(v), probe.Plural(rest, "more check"), probe.Plural(len(causes)-limit+1, "other cause"))
	}
}

// briefly writes one line for all results with a verdict that has no causes: their
// number and their most frequent messages.
func (t *textWriter) briefly(v conformance.Verdict) {
	results := with(t.report, v)
	if len(results) == 0 {
		return
	}
	if len(results) == 1 {
		t.printf("%s %s: %s\n", t.word(v), results[0].ID, oneLine(results[0].Message, maxLine))
		return
	}
	count := make(map[string]int)
	for _, result := range results {
		count[oneLine(result.Message, maxLine)]++
	}
	t.printf("%s %s: %s\n", t.word(v), probe.Plural(len(results), "check"), mostFrequent(count))
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

// retries returns what made the suite send requests again, and how many it then sent at
// a time.
func retries(r *conformance.Report) string {
	s := mostFrequent(r.Retries)
	if r.Limit > 0 {
		s += fmt.Sprintf("; then at most %s at a time", probe.Plural(r.Limit, "request"))
	}
	return s
}

// full writes a result with up to limit lines of its details (0: all). If there are
// more, it first leaves out the request, which the curl command has too.
func (t *textWriter) full(result conformance.Result, limit int) {
	word := t.word(result.Verdict)
	if result.Known != "" {
		word = t.paint(result.Verdict, "KNOWN")
	}
	t.printf("\n%s %s\n", word, result.ID)
	if result.Known != "" {
		t.printf("  known: %s\n", result.Known)
	}
	lines := strings.Split(strings.TrimSuffix(result.Details(), "\n"), "\n")
	if limit > 0 && len(lines) > limit {
		request := 0
		lines = slices.DeleteFunc(lines, func(line string) bool {
			if strings.HasPrefix(line, ">") {
				request++
			}
			return strings.HasPrefix(line, ">") && request > 1
		})
	}
	if limit > 0 && len(lines) > limit {
		lines = append(lines[:limit-1], "…")
	}
	for _, line := range lines {
		t.printf("%s\n", strings.TrimRight("  "+line, " "))
	}
}

// all writes what only a verbose text has.
func (t *textWriter) all(causes []conformance.Cause) {
	for _, c := range causes {
		for _, result := range c.Results {
			t.full(result, 0)
		}
	}
	for _, result := range t.report.Results {
		if result.Known != "" && (result.Verdict == conformance.Fail || result.Verdict == conformance.Warn) {
			t.full(result, 0)
		}
	}
	for _, v := range []conformance.Verdict{conformance.Errored, conformance.Inconclusive, conformance.Skip} {
		heading := "\n"
		for _, result := range with(t.report, v) {
			t.printf("%s%s %s: %s\n", heading, t.word(v), result.ID, strings.ReplaceAll(result.Message, "\n", "\n  "))
			heading = ""
		}
	}
	t.observations()
}

func (t *textWriter) observations() {
	heading := "\nWhat the target does where the contract leaves it open:\n"
	for _, result := range t.report.Results {
		for i, o := range result.Observations {
			if i == 0 {
				cl, _ := conformance.FindClause(result.Clause)
				t.printf("%s  %s\n", heading, cl.Text)
				heading = ""
			}
			t.printf("    %-36s %s\n", o.What, o.Got)
		}
	}
}

func (t *textWriter) summary() {
	r := t.report
	if len(r.Retries) > 0 {
		t.printf("requests were sent again after: %s\n", retries(r))
	}
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %.1f s, seed %d\n", r.Seconds, r.Seed)
	if len(r.Left.Pets) > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, named %s…\n", probe.Plural(len(r.Left.Pets), "pet"), idRange(r.Left.Pets), probe.Plural(r.Left.Messages, "message"), r.Left.Mark)
	}
	t.printf("%s\n", t.paint(colorOf(r), r.Headline()))
}
