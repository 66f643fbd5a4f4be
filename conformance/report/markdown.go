package report

import (
	"fmt"
	"html"
	"strings"

	"example.com/animalstore/conformance"
)

// The limits of a report in Markdown keep it under 60 lines, and under 65,536 bytes,
// the limit of a comment on GitHub.
var markdownLimits = limits{failures: 12, warnings: 10}

// maxCurl is the largest number of bytes of a line with a curl command.
const maxCurl = 8_000

// markdown returns r in the Markdown of GitHub: the verdict, a table of what needs
// attention, and the first failure behind a fold.
func markdown(r *conformance.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s Petstore conformance: %s\n\n", lookOf(colorOf(r)).Glyph, r.Outcome)
	fmt.Fprintf(&b, "%s, seed %d, %.1f s: %s\n", inCode(name(r)), r.Seed, r.Seconds, inCode(r.Summary()))
	lines := attention(r, markdownLimits)
	if len(lines) > 0 {
		b.WriteString("\n| | what the target does | section | checks |\n|---|---|---|---|\n")
	}
	for _, l := range lines {
		first := ""
		if len(l.results) > 1 {
			first = ", first " + inCell(l.results[0].ID)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s%s |\n", l.word, inCell(l.what), l.section, inCell(l.subject), first)
	}
	if len(r.Retries) > 0 {
		fmt.Fprintf(&b, "\nRequests were sent again after: %s\n", inCode(retries(r)))
	}
	if len(lines) > 0 && len(lines[0].results) > 0 {
		first := lines[0].results[0]
		noun := map[conformance.Verdict]string{conformance.Fail: "failure", conformance.Warn: "warning"}[first.Verdict]
		fmt.Fprintf(&b, "\n<details>\n<summary>the first %s: <code>%s</code></summary>\n\n", noun, html.EscapeString(oneLine(first.ID)))
		for _, line := range shortDetails(first) { // indented: a fence could end in the text
			if len(line) > maxCurl {
				line = fmt.Sprintf("(the curl command has %d bytes; the other reports have it)", len(line))
			}
			fmt.Fprintln(&b, strings.TrimRight("    "+line, " "))
		}
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// inCode returns the first line of s, cut, as code in a line of Markdown. Nothing in
// s ends the code, and nothing becomes a link.
func inCode(s string) string {
	s = oneLine(s)
	if strings.Contains(s, strings.Repeat("`", 20)) { // a fence of more than 80 is not one
		s = strings.ReplaceAll(s, "`", "'")
	}
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
