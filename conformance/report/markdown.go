package report

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// The limits of a report in Markdown. They keep it under 60 lines, and under 65,536
// bytes, the limit of a comment on GitHub.
const (
	maxCauses     = 15
	maxCell       = 300   // bytes of a text in a table
	maxDetails    = 25    // lines of the first failure
	maxMessage    = 5     // lines of the message of the first failure
	maxDetailLine = 400   // bytes of a line of the first failure
	maxCurl       = 8_000 // bytes of the line with the curl command
)

// markdown returns r in the Markdown of GitHub: the verdict, a table of the causes,
// and the first failure behind a fold.
func markdown(r *conformance.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s Petstore conformance: %s\n\n", lookOf(colorOf(r)).Glyph, r.Outcome)
	fmt.Fprintf(&b, "%s, seed %d, %.1f s: %s\n", inCode(name(r)), r.Seed, r.Seconds, inCode(r.Summary()))
	causes := r.Causes()
	if rows := markdownRows(r, causes); len(rows) > 0 {
		fmt.Fprintf(&b, "\n| | what the target does | section | checks |\n|---|---|---|---|\n%s", strings.Join(rows, ""))
	}
	if len(r.Retries) > 0 {
		fmt.Fprintf(&b, "\nRequests were sent again after: %s\n", inCode(retries(r)))
	}
	if len(causes) > 0 {
		first := causes[0].Results[0]
		message := strings.SplitAfter(first.Message, "\n")
		first.Message = strings.Join(message[:min(len(message), maxMessage)], "")
		noun := map[conformance.Verdict]string{conformance.Fail: "failure", conformance.Warn: "warning"}[first.Verdict]
		fmt.Fprintf(&b, "\n<details>\n<summary>the first %s: <code>%s</code></summary>\n\n%s\n</details>\n", noun, html.EscapeString(oneLine(first.ID, maxCell)), block(first.Details()))
	}
	return b.String()
}

// markdownRows returns the rows of the table: the causes, and what else needs
// attention.
func markdownRows(r *conformance.Report, causes []conformance.Cause) []string {
	var rows []string
	add := func(word, what, section string, results []conformance.Result) {
		checks := inCell(results[0].ID)
		if n := len(results); n > 1 {
			checks = fmt.Sprintf("%d, first %s", n, checks)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", word, inCell(what), section, checks))
	}
	for _, c := range causes[:min(len(causes), maxCauses)] {
		cl, _ := conformance.FindClause(c.Clause)
		add(string(c.Verdict), c.What, cl.Section, c.Results)
	}
	if more := len(causes) - maxCauses; more > 0 {
		rows = append(rows, fmt.Sprintf("| | %s | | |\n", probe.Plural(more, "more cause")))
	}
	for _, v := range []conformance.Verdict{conformance.Errored, conformance.Inconclusive} {
		if results := with(r, v); len(results) > 0 {
			add(string(v), results[0].Message, "", results)
		}
	}
	stale := slices.DeleteFunc(slices.Clone(r.Results), func(result conformance.Result) bool { return !result.Stale })
	if len(stale) > 0 {
		add("stale", "passes, and is on the list of known failures: "+stale[0].Known, "", stale)
	}
	return rows
}

// name returns the name, version and URL of the target.
func name(r *conformance.Report) string {
	return strings.TrimSpace(strings.TrimSpace(r.Implementation+" "+r.Version) + " " + r.URL)
}

// inCode returns the first line of s, cut, as code in a line of Markdown. Nothing in
// s ends the code, and nothing becomes a link.
func inCode(s string) string {
	s = oneLine(s, maxCell)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}

// inCell is inCode for a cell of a table. A backslash before the escaped bar would
// escape the escape.
func inCell(s string) string {
	if s == "" {
		return ""
	}
	return strings.NewReplacer(`\|`, `\ \|`, "|", `\|`).Replace(inCode(s))
}

// block returns text as a block of code in Markdown, which is indented: a fence could
// end in the text.
func block(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > maxDetails {
		lines = append(lines[:maxDetails], "…")
	}
	for i, line := range lines {
		switch {
		case !strings.HasPrefix(line, "curl "):
			line = oneLine(line, maxDetailLine)
		case len(line) > maxCurl:
			line = fmt.Sprintf("(the curl command has %d bytes; the other reports have it)", len(line))
		}
		lines[i] = strings.TrimRight("    "+line, " ") + "\n"
	}
	return strings.Join(lines, "")
}

// oneLine returns the first line of s, without control characters and cut to about
// limit bytes, at a space if there is one near.
func oneLine(s string, limit int) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > limit {
		if space := strings.LastIndexByte(s[:limit], ' '); space > limit/2 {
			limit = space
		}
	}
	return probe.Cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return ' '
		}
		return r
	}, s), limit)
}
