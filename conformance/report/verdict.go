package report

import (
	"slices"

	"example.com/animalstore/conformance"
)

// verdict is how reports show a verdict.
type verdict struct {
	Verdict conformance.Verdict
	Words   string // what a number of such results is called
	Glyph   string // so that it differs in more than color
	color   string // in a terminal
}

// verdicts has the worst first.
var verdicts = []verdict{
	{conformance.Fail, "failed", "✕", "1;31"},
	{conformance.Errored, "errors", "⚡", "35"},
	{conformance.Warn, "warnings", "!", "33"},
	{conformance.Inconclusive, "inconclusive", "?", "36"},
	{conformance.Pass, "passed", "✓", "32"},
	{conformance.Skip, "skipped", "–", "2"},
}

// lookOf returns how reports show v.
func lookOf(v conformance.Verdict) verdict {
	return verdicts[slices.IndexFunc(verdicts, func(l verdict) bool { return l.Verdict == v })]
}

// with returns the results with a verdict.
func with(r *conformance.Report, v conformance.Verdict) []conformance.Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(result conformance.Result) bool { return result.Verdict != v })
}

// colorOf returns the verdict that has the color of the outcome of r.
func colorOf(r *conformance.Report) conformance.Verdict {
	switch {
	case r.Outcome == conformance.NotConformant || r.Counts.Stale > 0:
		return conformance.Fail
	case r.Outcome == conformance.Incomplete:
		return conformance.Errored
	case r.Outcome == conformance.Partial:
		return conformance.Inconclusive
	}
	return conformance.Pass
}
