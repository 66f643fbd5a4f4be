package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Headline returns the outcome in one line.
func (r *Report) Headline() string {
	c := r.Counts
	line := string(r.Outcome)
	switch r.Outcome {
	case NotConformant:
		failed := c.Fail
		if r.Level == Recommended {
			failed += c.Warn
		}
		line += fmt.Sprintf(": %s failed", plural(failed, "check"))
	case Incomplete:
		if c.Errored > 0 {
			line += fmt.Sprintf(": %s could not be run", plural(c.Errored, "check"))
		}
	}
	if c.Inconclusive > 0 {
		line += fmt.Sprintf(" (%d inconclusive)", c.Inconclusive)
	}
	return line + r.staleNote()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verdict returns the outcome with all the counts, in one line.
func (r *Report) verdict() string {
	c := r.Counts
	parts := []string{fmt.Sprintf("%d passed", c.Pass), fmt.Sprintf("%d failed", c.Fail)}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	warned, inconclusive := "warned", "inconclusive"
	if r.Level == Recommended {
		warned += " (which counts here)"
	}
	if r.Strict {
		inconclusive += " (which counts here)"
	}
	add(c.Warn, warned)
	add(c.Inconclusive, inconclusive)
	add(c.Errored, "could not be run")
	add(c.Known, "known to fail")
	add(c.Skip, "skipped ("+r.skipReasons()+")")
	line := fmt.Sprintf("%s: %s: %s", r.Outcome, plural(len(r.Results), "check"), strings.Join(parts, ", "))
	return line + r.staleNote()
}

// staleNote says that known failures passed; "" if none did.
func (r *Report) staleNote() string {
	if r.Counts.Stale == 0 {
		return ""
	}
	return fmt.Sprintf("; %s passed, and must be taken off the list", plural(r.Counts.Stale, "known failure"))
}

// skipReasons says how many checks were skipped for which reason.
func (r *Report) skipReasons() string {
	by, reasons := r.skips()
	if len(reasons) == 1 {
		return reasons[0]
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", len(by[why]), why)
	}
	return strings.Join(reasons, ", ")
}

// skips returns the skipped checks' ids by reason, and the reasons, that of
// the most checks first.
func (r *Report) skips() (map[string][]string, []string) {
	by := make(map[string][]string)
	for _, result := range r.Results {
		if result.Verdict == Skip {
			by[result.Message] = append(by[result.Message], result.ID)
		}
	}
	return by, slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(len(by[b])-len(by[a]), strings.Compare(a, b))
	})
}
