package conformance

import (
	"fmt"
	"io"
	"strings"
)

// writeText writes r for a person: what needs attention first and in full,
// the outcome last, where a terminal stops.
func (r *Report) writeText(w io.Writer, colour bool) error {
	t := &textWriter{colour: colour}
	for _, section := range []struct {
		verdict Verdict
		write   func(*textWriter, Result)
	}{
		{Fail, (*textWriter).problem},
		{Warn, (*textWriter).problem},
		{Errored, (*textWriter).brief},
		{Inconclusive, (*textWriter).brief},
	} {
		for _, result := range r.Results {
			if result.Verdict == section.verdict {
				section.write(t, result)
			}
		}
	}
	for _, result := range r.Results {
		if result.Stale {
			t.printf("%s %s passes, and is on the list of known failures: %s\n\n", t.paint(Fail, "STALE"), result.ID, result.Known)
		}
	}
	t.observations(r)
	t.skips(r)
	t.summary(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	b      strings.Builder
	colour bool
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

// problem writes a result in full: the clause, what is wrong, the exchange
// that proves it and how to see it again.
func (t *textWriter) problem(result Result) {
	word := strings.ToUpper(string(result.Verdict))
	if result.Known != "" {
		word = "KNOWN"
	}
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

func (t *textWriter) brief(result Result) {
	t.printf("%s %s: %s\n", t.paint(result.Verdict, strings.ToUpper(string(result.Verdict))), result.ID, indent(result.Message))
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
	head := "\nWhat the contract leaves open, and what the target does:\n"
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
	c := r.Counts
	t.printf("%s\n", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf("%s (messages)\n", r.MessagesURL)
	}
	t.printf("%s: %d passed, %d failed, %d warned, %d inconclusive, %d errors, %d skipped",
		plural(len(r.Results), "check"), c.Pass, c.Fail, c.Warn, c.Inconclusive, c.Errored, c.Skip)
	if c.Known > 0 {
		t.printf(", %d known", c.Known)
	}
	t.printf("; %.1f s, seed %d\n", r.Seconds, r.Seed)
	if len(r.Left.Pets) > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, named %s…\n", plural(len(r.Left.Pets), "animal"), idRange(r.Left.Pets), plural(r.Left.Messages, "message"), r.Left.Mark)
	}
	v := Pass
	switch {
	case r.Outcome == NotConformant || r.Counts.Stale > 0:
		v = Fail
	case r.Outcome == Incomplete:
		v = Errored
	}
	t.printf("%s\n", t.paint(v, r.Headline()))
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
