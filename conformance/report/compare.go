package report

import (
	"cmp"
	"regexp"
	"slices"

	"example.com/animalstore/conformance"
)

// Comparison is how two reports differ: those of two implementations, or of one
// before and after a change.
type Comparison struct {
	A, B *conformance.Report

	// Worse has the checks that count more against B than against A. A failure at
	// the level of B that is not a known failure counts most, and an error less.
	Worse []Change

	// Better has the checks that count more against A, and pass or warn in B.
	Better []Change

	// Other has the other checks whose verdicts differ.
	Other []Change

	// OnlyA and OnlyB count the other checks that ran in one of both.
	OnlyA, OnlyB int

	// Observed is what A and B do differently where the contract leaves it open.
	Observed []Difference
}

// Change is the two results of a check. If only one report has the check, the other
// result has no ID.
type Change struct{ A, B conformance.Result }

// Difference is what two targets do differently.
type Difference struct {
	ID   string // of the check
	What string // the question
	A, B string // what they do
}

// Compare compares b with a. The results are in the order of b; those that only a
// has come last.
func Compare(a, b *conformance.Report) *Comparison {
	c := &Comparison{A: a, B: b}
	var changes []Change
	for _, result := range b.Results {
		changes = append(changes, Change{resultOf(a, result.ID), result})
	}
	for _, result := range a.Results {
		if resultOf(b, result.ID).ID == "" {
			changes = append(changes, Change{A: result})
		}
	}
	for _, change := range changes {
		inA, inB := against(change.A, b.Level), against(change.B, b.Level)
		switch {
		case inB > inA:
			c.Worse = append(c.Worse, change)
		case inA > inB && (change.B.Verdict == conformance.Pass || change.B.Verdict == conformance.Warn):
			c.Better = append(c.Better, change)
		case !ran(change.A) && !ran(change.B):
		case !ran(change.B):
			c.OnlyA++
		case !ran(change.A):
			c.OnlyB++
		case word(change.A) != word(change.B):
			c.Other = append(c.Other, change)
		}
		c.Observed = append(c.Observed, differences(change)...)
	}
	return c
}

// resultOf returns the result of a check in r, or one without an ID.
func resultOf(r *conformance.Report, id string) (result conformance.Result) {
	if i := slices.IndexFunc(r.Results, func(o conformance.Result) bool { return o.ID == id }); i >= 0 {
		result = r.Results[i]
	}
	return result
}

func ran(result conformance.Result) bool {
	return result.Verdict != "" && result.Verdict != conformance.Skip
}

// against returns how much a result counts against a target: 2 for a failure, 1 for
// an error, 0 for anything else.
func against(result conformance.Result, level conformance.Level) int {
	switch {
	case result.CountsAgainst(level):
		return 2
	case result.Verdict == conformance.Errored:
		return 1
	}
	return 0
}

// word returns the verdict of a result as a comparison shows it.
func word(result conformance.Result) string {
	if result.Known != "" && (result.Verdict == conformance.Fail || result.Verdict == conformance.Warn) {
		return "known"
	}
	return cmp.Or(string(result.Verdict), "no check")
}

// differences returns the observations of a check that differ. If one result has no
// observations, as when the check was skipped, nothing differs.
func differences(c Change) []Difference {
	if len(c.A.Observations) == 0 || len(c.B.Observations) == 0 {
		return nil
	}
	var all []Difference
	for _, o := range c.B.Observations {
		all = append(all, Difference{ID: c.B.ID, What: o.What, B: o.Got})
	}
	for _, o := range c.A.Observations {
		i := slices.IndexFunc(all, func(d Difference) bool { return d.What == o.What && d.A == "" })
		if i < 0 {
			i = len(all)
			all = append(all, Difference{ID: c.A.ID, What: o.What})
		}
		all[i].A = o.Got
	}
	return slices.DeleteFunc(all, func(d Difference) bool { return steady(d.A) == steady(d.B) })
}

var (
	statusLine = regexp.MustCompile(`^\d{3} `)
	petCount   = regexp.MustCompile(`[1-9]\d* pets`)
	digits     = regexp.MustCompile(`[\w-]*\d[\w-]*`)
)

// steady returns what was observed without what differs from run to run: the number
// of pets in a list, and words with digits in a header field, such as ids and
// cursors.
func steady(got string) string {
	if statusLine.MatchString(got) {
		return petCount.ReplaceAllString(got, "pets")
	}
	return digits.ReplaceAllString(got, "…")
}
