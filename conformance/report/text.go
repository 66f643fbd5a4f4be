package report

import (
	"fmt"
	"io"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// How many problems a text has in full: all of them up to manyProblems,
// otherwise the first fewProblems of each group.
const (
	manyProblems = 20
	fewProblems  = 3
)

// longText is the number of lines from which on a text has its verdict at the
// beginning too.
const longText = 40

// textWriter writes a report for a person: what needs attention first, the
// verdict last, where a terminal stops.
type textWriter struct {
	strings.Builder
	report  *conformance.Report
	color   bool
	verbose bool
}

func writeText(w io.Writer, r *conformance.Report, color, verbose bool) error {
	t := &textWriter{report: r, color: color, verbose: verbose}
	t.problems()
	t.briefly(conformance.Errored)
	t.briefly(conformance.Inconclusive)
	for _, result := range r.Results {
		if result.Stale {
			t.printf("%s %s passes, and is on the list of known failures: %s\n\n", t.paint(conformance.Fail, "STALE"), result.ID, result.Known)
		}
	}
	if verbose {
		t.observations()
		t.briefly(conformance.Skip)
	}
	text := t.String()
	t.Reset()
	verdict := t.paint(colorOf(r), r.Headline()) + "\n"
	if strings.Count(text, "\n") >= longText {
		t.printf("%s\n", verdict)
	}
	t.printf("%s", text)
	t.summary()
	t.printf("%s", verdict)
	_, err := io.WriteString(w, t.String())
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

// problems writes the failures and then the warnings.
func (t *textWriter) problems() {
	results := append(with(t.report, conformance.Fail), with(t.report, conformance.Warn)...)
	if t.verbose || len(results) <= manyProblems {
		for _, result := range results {
			t.problem(result)
		}
		return
	}
	groups := groupBy(results, func(result conformance.Result) string { return proofOf(t.report, result) })
	t.printf("The problems by the exchanges that prove them:\n")
	for _, g := range groups {
		t.printf("  %4d %-5s %s\n", len(g.results), g.word(), probe.Cut(g.what, 120))
	}
	t.printf("\n")
	shown := 0
	for _, g := range groups {
		few := min(fewProblems, len(g.results), max(manyProblems-shown, 0))
		shown += few
		for _, result := range g.results[:few] {
			t.problem(result)
		}
		if g.results = g.results[few:]; len(g.results) > 0 {
			t.printf("%s %s: %s\n%s\n", t.paint(g.verdict, g.word()), probe.Plural(len(g.results), "more check"), probe.Cut(g.what, 120), wrap(g.ids()))
		}
	}
}

// problem writes a result in full.
func (t *textWriter) problem(result conformance.Result) {
	word := group{verdict: result.Verdict, known: result.Known != ""}.word()
	t.printf("%s %s\n", t.paint(result.Verdict, word), result.ID)
	if result.Known != "" {
		t.printf("  known: %s\n", result.Known)
	}
	for line := range strings.Lines(result.Details()) {
		if line != "\n" {
			t.printf("  ")
		}
		t.printf("%s", line)
	}
	t.printf("\n")
}

// briefly writes the messages of the results with a verdict, those with the same
// message together.
func (t *textWriter) briefly(v conformance.Verdict) {
	groups := groupBy(with(t.report, v), message)
	for _, g := range groups {
		what := strings.ReplaceAll(g.what, "\n", "\n  ")
		if len(g.results) == 1 {
			t.printf("%s %s: %s\n", t.paint(v, g.word()), g.results[0].ID, what)
		} else {
			t.printf("%s %s: %s\n%s", t.paint(v, g.word()), probe.Plural(len(g.results), "check"), what, wrap(g.ids()))
		}
	}
	if len(groups) > 0 {
		t.printf("\n")
	}
}

func (t *textWriter) observations() {
	heading := "What the target does where the contract leaves it open:\n"
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
	if heading == "" {
		t.printf("\n")
	}
}

// wrap returns words in lines of about 100 characters.
func wrap(words []string) string {
	var b strings.Builder
	line := " "
	for _, word := range words {
		if len(line)+len(word) > 100 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

func (t *textWriter) summary() {
	r := t.report
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %.1f s, seed %d\n", r.Seconds, r.Seed)
	if len(r.Left.Pets) > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, named %s…\n", probe.Plural(len(r.Left.Pets), "pet"), idRange(r.Left.Pets), probe.Plural(r.Left.Messages, "message"), r.Left.Mark)
	}
}
