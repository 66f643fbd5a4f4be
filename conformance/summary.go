package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What a report says in words.

// Headline returns the outcome and every count, in one line.
func (r *Report) Headline() string {
	skipped := make(map[string]int) // by reason
	kinds := 0
	for _, result := range r.Results {
		switch result.Verdict {
		case Skip:
			skipped[result.Message]++
		case Fail:
			kinds += max(1, len(result.Kinds))
		}
	}
	failed := fmt.Sprintf("%d failed", r.Counts[Fail])
	if kinds > r.Counts[Fail] {
		failed += fmt.Sprintf(" in %d ways", kinds)
	}
	parts := []string{fmt.Sprintf("%s: %d passed", probe.Plural(len(r.Results), "check"), r.Counts[Pass]), failed}
	if n := r.Counts[Warn]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d with warnings", n))
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		parts = append(parts, fmt.Sprintf("%d skipped (%s)", skipped[reason], reason))
	}
	return string(r.Outcome) + ": " + strings.Join(parts, ", ")
}

// Headline returns the first line of the message, how many of the judged exchanges
// are violations, unless all are, and what is particular about the first of the others.
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
