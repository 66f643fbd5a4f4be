package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// line is a line of a short report: a cause, or results without one that need attention.
type line struct {
	verdict conformance.Verdict // sets the color
	word    string              // such as fail or stale
	subject string              // the ID of a check, or a number of them
	what    string
	section string               // of the clause that is broken; "": none is
	results []conformance.Result // of a cause
}

// limits are the largest numbers of causes with a line of their own. Zero: every cause
// and every check has one.
type limits struct{ failures, warnings int }

// attention returns the lines of r: the causes of failures, those of warnings, and what
// has no cause.
func attention(r *conformance.Report, most limits) []line {
	lines := slices.Concat(causeLines(r, conformance.Fail, most.failures), causeLines(r, conformance.Warn, most.warnings))
	add := func(v conformance.Verdict, word, subject, what string) {
		lines = append(lines, line{verdict: v, word: word, subject: subject, what: what})
	}
	all := most == limits{}
	for _, v := range []conformance.Verdict{conformance.Errored, conformance.Inconclusive} {
		results := with(r, v)
		if len(results) > 1 && !all {
			add(v, string(v), probe.Plural(len(results), "check"), reasons(r, results))
			continue
		}
		for _, result := range results {
			add(v, string(v), result.ID, result.Message)
		}
	}
	var stale []string
	for _, result := range r.Results {
		if result.Stale {
			stale = append(stale, result.ID)
		}
		if all && word(result) == "known" {
			add(result.Verdict, "known", result.ID, fmt.Sprintf("%s (%s)", oneLine(result.Message), result.Known))
		}
	}
	if len(stale) > 0 {
		add(conformance.Fail, "stale", strings.Join(stale, ", "), "known to fail, but passed; must be removed from the list of known failures")
	}
	return lines
}

// causeLines returns the lines of the causes with a verdict. If there are more than
// limit, the last line has the others.
func causeLines(r *conformance.Report, v conformance.Verdict, limit int) []line {
	causes := slices.DeleteFunc(r.Causes(), func(c conformance.Cause) bool { return c.Verdict != v })
	var lines []line
	var others []string
	for i, c := range causes {
		first, n := c.Results[0].ID, len(c.Results)
		if limit > 0 && len(causes) > limit && i >= limit-1 {
			others = append(others, first)
			continue
		}
		cl, _ := conformance.FindClause(c.Clause)
		l := line{v, string(v), first, c.What, cl.Section, c.Results}
		if n > 1 {
			l.subject = probe.Plural(n, "check")
		}
		lines = append(lines, l)
	}
	if len(others) > 0 {
		lines = append(lines, line{verdict: v, word: string(v), subject: probe.Plural(len(others), "more cause"), what: someOf(others) + " (-v shows them)"})
	}
	return lines
}

// reasons returns the most frequent messages of results. A message that names a
// check that fails or warns is replaced: its own words help nobody before that
// violation is gone.
func reasons(r *conformance.Report, results []conformance.Result) string {
	count := make(map[string]int)
	for _, result := range results {
		message := oneLine(result.Message)
		_, id, _ := strings.Cut(result.Message, "; see ")
		if see := resultOf(r, id); see.Verdict == conformance.Fail || see.Verdict == conformance.Warn {
			message = "another check reports the cause"
		}
		count[message]++
	}
	if len(count) == 1 {
		for message := range count {
			return message
		}
	}
	return mostFrequent(count)
}

// mostFrequent returns the most frequent keys with their counts.
func mostFrequent(count map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	var parts []string
	for _, key := range keys[:min(len(keys), 3)] {
		parts = append(parts, fmt.Sprintf("%s (%d)", key, count[key]))
	}
	if more := len(keys) - len(parts); more > 0 {
		parts = append(parts, probe.Plural(more, "other reason"))
	}
	return strings.Join(parts, "; ")
}
