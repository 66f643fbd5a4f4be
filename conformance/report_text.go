package conformance

import (
	"fmt"
	"io"
	"strings"
)

// How much a text shows of a target with many faults: up to manyProblems it
// shows all of them in full, of more the first few of each cause.
const (
	manyProblems = 20
	fewProblems  = 3
)

// longText is the number of lines from which on a text says its verdict at
// its beginning too.
const longText = 40

// writeText writes r for a person: what needs attention first and in full,
// the verdict last, where a terminal stops.
func (r *Report) writeText(w io.Writer, colour bool) error {
	t := &textWriter{colour: colour, verbose: r.Verbose}
	for _, line := range r.always() {
		t.printf("%s\n\n", t.paint(Fail, line))
	}
	t.problems(r)
	t.briefly(r, Errored)
	t.briefly(r, Inconclusive)
	for _, result := range r.Results {
		if result.Stale {
			t.printf("%s %s passes, and is on the list of known failures: %s\n\n", t.paint(Fail, "STALE"), result.ID, result.Known)
		}
	}
	if r.Verbose {
		t.observations(r)
		t.skips(r)
	}
	text := t.b.String()
	t.b.Reset()
	verdict := t.paint(r.colour(), r.verdict()) + "\n"
	if strings.Count(text, "\n") >= longText {
		t.printf("%s\n", verdict)
	}
	t.printf("%s", text)
	t.summary(r)
	t.printf("%s", verdict)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// colour returns the verdict whose colour r's own has.
func (r *Report) colour() Verdict {
	switch {
	case r.Outcome == NotConformant || r.Counts.Stale > 0:
		return Fail
	case r.Outcome == Incomplete:
		return Errored
	}
	return Pass
}

type textWriter struct {
	b       strings.Builder
	colour  bool
	verbose bool
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// paint colours s as a verdict is coloured.
func (t *textWriter) paint(v Verdict, s string) string {
	if !t.colour {
		return s
	}
	code := map[Verdict]string{Pass: "32", Fail: "1;31", Warn: "33", Inconclusive: "36", Errored: "35", Skip: "2"}[v]
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// problems writes the failures and then the warnings, in full unless there
// are too many to read.
func (t *textWriter) problems(r *Report) {
	results := append(r.with(Fail), r.with(Warn)...)
	if t.verbose || len(results) <= manyProblems {
		for _, result := range results {
			t.problem(result)
		}
		return
	}
	all := causes(results, r.answered)
	t.printf("What is wrong, by what the answers that prove it have in common:\n")
	for _, c := range all {
		t.printf("  %4d %-5s %s\n", len(c.results), c.word(), cut(c.what, 120))
	}
	t.printf("\n")
	shown := 0
	for _, c := range all {
		few := min(fewProblems, len(c.results), max(manyProblems-shown, 0))
		shown += few
		for _, result := range c.results[:few] {
			t.problem(result)
		}
		if rest := c.results[few:]; len(rest) > 0 {
			t.printf("%s %s: %s\n%s\n", t.paint(c.verdict, c.word()), plural(len(rest), "more check"), cut(c.what, 120), wrap(ids(rest)))
		}
	}
}

// word names the verdict of c's results.
func (c cause) word() string {
	if c.known {
		return "KNOWN"
	}
	return strings.ToUpper(string(c.verdict))
}

// problem writes a result in full: the clause, what is wrong, the exchange
// that proves it and how to see it again.
func (t *textWriter) problem(result Result) {
	word := cause{verdict: result.Verdict, known: result.Known != ""}.word()
	cl := clauseOf(result.Check)
	t.printf("%s %s\n", t.paint(result.Verdict, word), result.ID)
	t.printf("  %s\n", indent(result.Message))
	t.printf("  contract: %s (%s)\n", cl.Text, cl.Section)
	if result.Known != "" {
		t.printf("  known: %s\n", result.Known)
	}
	if result.Proof >= 0 {
		x := result.Exchanges[result.Proof]
		t.printf("\n    %s\n\n%s", x.Curl, indentLines("    ", cutLines(x.String(), 40)))
	}
	t.printf("\n")
}

// briefly writes the results of a verdict with their messages, those that say
// the same together.
func (t *textWriter) briefly(r *Report, v Verdict) {
	word := t.paint(v, strings.ToUpper(string(v)))
	for _, c := range causes(r.with(v), func(result Result) string { return result.Message }) {
		if len(c.results) == 1 {
			t.printf("%s %s: %s\n", word, c.results[0].ID, indent(c.what))
		} else {
			t.printf("%s %s: %s\n%s", word, plural(len(c.results), "check"), indent(c.what), wrap(ids(c.results)))
		}
	}
	if len(r.with(v)) > 0 {
		t.printf("\n")
	}
}

func ids(results []Result) []string {
	var all []string
	for _, result := range results {
		all = append(all, result.ID)
	}
	return all
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

func indentLines(prefix, s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

// cutLines keeps the first n lines of s, each of them short enough to read.
func cutLines(s string, n int) string {
	var lines []string
	for line := range strings.Lines(s) {
		if len(lines) == n {
			lines = append(lines, "…\n")
			break
		}
		lines = append(lines, cut(strings.TrimSuffix(line, "\n"), 400)+"\n")
	}
	return strings.Join(lines, "")
}

func (t *textWriter) observations(r *Report) {
	head := "What the contract leaves open, and what the target does:\n"
	for _, result := range r.Results {
		for i, o := range result.Observations {
			if i == 0 {
				t.printf("%s  %s\n", head, clauseOf(result.Check).Text)
				head = ""
			}
			t.printf("    %-36s %s\n", o.What, o.Got)
		}
	}
	if head == "" {
		t.printf("\n")
	}
}

func (t *textWriter) skips(r *Report) {
	by, reasons := r.skips()
	for _, why := range reasons {
		t.printf("%s %s, %s:\n%s", t.paint(Skip, "SKIP"), plural(len(by[why]), "check"), why, wrap(by[why]))
	}
	if len(reasons) > 0 {
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

func (t *textWriter) summary(r *Report) {
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %.1f s, seed %d\n", r.Seconds, r.Seed)
	if len(r.Left.Pets) > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, named %s…\n", plural(len(r.Left.Pets), "pet"), idRange(r.Left.Pets), plural(r.Left.Messages, "message"), r.Left.Mark)
	}
}

// idRange says which ids, in order, there are.
func idRange(ids []int64) string {
	switch n := len(ids); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf(" (id %d)", ids[0])
	case n <= 6:
		return fmt.Sprintf(" (ids %s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]"))
	default:
		return fmt.Sprintf(" (ids from %d to %d)", ids[0], ids[n-1])
	}
}
