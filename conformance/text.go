package conformance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/wire"
)

// WriteText writes r for a person: why the target cannot be judged, if it cannot, then what it
// does wrong, and the conclusion last. It shows the proof of the first failure; a verbose report
// has the skipped checks too, and the proof of every failure and warning.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	var lines, proofs strings.Builder
	if r.Reason != "" {
		fmt.Fprintln(&lines, r.Reason)
	}
	for _, v := range []Verdict{Fail, Warn, Skip} {
		for _, result := range r.Results {
			if result.Verdict != v || v == Skip && !verbose {
				continue
			}
			name := strings.ToUpper(string(v)) + " " + result.ID
			fmt.Fprintf(&lines, "%s [section %s]: %s\n", name, result.Section, result.Headline())
			if v != Skip && (verbose || v == Fail && proofs.Len() == 0) {
				fmt.Fprintf(&proofs, "\n%s\n  %s\n", name, strings.ReplaceAll(strings.TrimSpace(result.Details()), "\n", "\n  "))
			}
		}
	}
	if proofs.Len() > 0 {
		fmt.Fprintln(&proofs)
		if !verbose {
			fmt.Fprintln(&proofs, "-v shows every failed check with its curl command")
		}
	}
	messages, left := "", ""
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		messages = fmt.Sprintf(" (messages: %s)", r.MessagesURL)
	}
	if r.Left != "" {
		left = "left behind: " + r.Left + "\n"
	}
	_, err := fmt.Fprintf(w, "%s%s%s%s, %s, %.1f s\n%s%s\n", &lines, &proofs,
		r.URL, messages, plural(r.Requests, "request"), r.Seconds, left, r.Headline())
	return err
}

// Headline returns the conclusion and every count, in one line.
func (r *Report) Headline() string {
	skipped := make(map[string]int) // by reason
	for _, result := range r.Results {
		if result.Verdict == Skip {
			skipped[result.Message]++
		}
	}
	line := fmt.Sprintf("%s: %s: %d passed, %d failed", r.Conclusion, plural(len(r.Results), "check"), r.Counts[Pass], r.Counts[Fail])
	if n := r.Counts[Warn]; n > 0 {
		line += fmt.Sprintf(", %d with warnings", n)
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		line += fmt.Sprintf(", %d skipped (%s)", skipped[reason], reason)
	}
	return line
}

// Headline returns one line without the check's ID and verdict: the first line of the message,
// how many of the judged exchanges are violations, unless all are, and what is particular
// about the violations.
func (r Result) Headline() string {
	line, _, _ := strings.Cut(r.Message, "\n")
	kinds, word := r.Kinds, "; seen in: "
	if len(kinds) > 0 && strings.Contains(line, kinds[0]) {
		kinds, word = kinds[1:], "; also: "
	}
	if r.Violations != r.Judged && r.Violations != 0 {
		line = fmt.Sprintf("%s (%d of %d)", line, r.Violations, r.Judged)
	}
	if n := len(kinds); n > 5 {
		kinds = append(slices.Clone(kinds[:4]), fmt.Sprintf("%d more", n-4))
	}
	if len(kinds) > 0 {
		line += word + strings.Join(kinds, "; ")
	}
	return line
}

// Details returns the message of r, the section that is violated, and the proof with its curl
// command.
func (r Result) Details() string {
	_, more, _ := strings.Cut(r.Message, "\n")
	details := fmt.Sprintf("%s\n%s\nsection %s: %s\n", r.Headline(), more, r.Section, r.Title)
	if r.Before != nil {
		details += "send this first (if its response has another id, use that one):\n" + r.Before.Curl + "\n"
	}
	if r.Proof != nil {
		details += r.Proof.String()
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(details, "\n\n", "\n"), "\n") {
		if strings.HasPrefix(line, "<") { // a part of the response
			line = wire.Cut(line, 240)
		}
		lines = append(lines, line)
	}
	if len(lines) > 24 {
		lines = append(lines[:24], "…", "")
	}
	return strings.Join(lines, "\n")
}

// plural returns n and the noun, which gets an s unless n is 1.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
