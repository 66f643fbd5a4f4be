package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What a report says in words.

// Headline returns the outcome and the summary, in one line.
func (r *Report) Headline() string { return string(r.Outcome) + ": " + r.Summary() }

// Summary returns every count, in one line.
func (r *Report) Summary() string {
	c := r.Counts
	parts := []string{fmt.Sprintf("%s: %d passed", probe.Plural(len(r.Results), "check"), c.Pass), fmt.Sprintf("%d failed", c.Fail)}
	if r.Outcome == Partial {
		parts = []string{fmt.Sprintf("%d of %s", len(r.Results)-c.Skip, probe.Plural(len(r.Results), "check")), "none failed"}
	}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	warnings := "with warnings"
	if r.Level == Recommended {
		warnings += " (which counts against the target)"
	}
	add(c.Warn, warnings)
	add(c.Inconclusive, "inconclusive")
	add(c.Errored, "could not be run")
	add(c.Known, "known to fail")
	skipped := make(map[string]int) // by reason
	for _, result := range r.Results {
		if result.Verdict == Skip {
			skipped[result.Message]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		add(skipped[reason], "skipped ("+reason+")")
	}
	line := strings.Join(parts, ", ")
	if c.Stale > 0 {
		line += fmt.Sprintf("; %s passed and must be removed from the list", probe.Plural(c.Stale, "known failure"))
	}
	return line
}

// CountsAgainst reports whether r makes a target not conformant where violations
// count from level on. A known failure does not.
func (r Result) CountsAgainst(level Level) bool {
	return r.Known == "" && (r.Verdict == Fail || r.Verdict == Warn && level == Recommended)
}

// Details returns the message of r, the clause that is violated, whether the proof was
// a violation again, and the proof with its curl command.
func (r Result) Details() string {
	cl, _ := FindClause(r.Clause)
	_, more, _ := strings.Cut(r.Message, "\n")
	details := fmt.Sprintf("%s\n%s\nclause %s: %s\n", r.Headline(), more, cl.Section, cl.Text)
	if r.Again != "" {
		details += "again, when sent alone: " + r.Again + "\n"
	}
	if r.Proof != nil {
		details += r.Proof.String()
	}
	return firstLines(strings.ReplaceAll(details, "\n\n", "\n"))
}

// Headline returns the first line of the message, and how many of the judged exchanges
// are violations, unless all are.
func (r Result) Headline() string {
	line, _, _ := strings.Cut(r.Message, "\n")
	if r.Violations == r.Judged || r.Violations == 0 {
		return line
	}
	return fmt.Sprintf("%s (%d of %d)", line, r.Violations, r.Judged)
}

// firstLines returns the first lines of s, each cut to a readable length, but for curl
// commands.
func firstLines(s string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(s) {
		if n++; n > 24 {
			return b.String() + "…\n"
		}
		if !strings.HasPrefix(line, "curl ") {
			line = probe.Cut(strings.TrimSuffix(line, "\n"), 240) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// retries counts what made the client send requests again.
func retries(h *history) map[string]int {
	counts := make(map[string]int)
	for _, x := range h.repeated {
		switch {
		case x.Status != 0:
			counts[x.StatusLine()]++
		case probe.IsTimeout(x.Err):
			counts["no response in time"]++
		default:
			counts["lost connection"]++
		}
	}
	return counts
}
