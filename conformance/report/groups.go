package report

import (
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// group is the results that have something in common.
type group struct {
	verdict conformance.Verdict
	known   bool
	what    string // what they have in common
	results []conformance.Result
}

// word names the verdict of the results.
func (g group) word() string {
	if g.known {
		return "KNOWN"
	}
	return strings.ToUpper(string(g.verdict))
}

func (g group) ids() []string {
	var ids []string
	for _, result := range g.results {
		ids = append(ids, result.ID)
	}
	return ids
}

// groupBy returns groups of results with the same verdict for which what returns
// the same, the largest group first.
func groupBy(results []conformance.Result, what func(conformance.Result) string) []group {
	var groups []group
	for _, result := range results {
		g := group{verdict: result.Verdict, known: result.Known != "", what: what(result)}
		i := slices.IndexFunc(groups, func(o group) bool {
			return o.verdict == g.verdict && o.known == g.known && o.what == g.what
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, g)
		}
		groups[i].results = append(groups[i].results, result)
	}
	slices.SortStableFunc(groups, func(a, b group) int { return len(b.results) - len(a.results) })
	return groups
}

func message(result conformance.Result) string { return result.Message }

// with returns the results with a verdict.
func with(r *conformance.Report, v conformance.Verdict) []conformance.Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(result conformance.Result) bool { return result.Verdict != v })
}

// proofOf describes the exchange that proves the message of result.
func proofOf(r *conformance.Report, result conformance.Result) string {
	if result.Proof < 0 {
		return result.Message
	}
	x := result.Exchanges[result.Proof]
	return operation(r, x) + " gets " + probe.StatusLine(x.Status)
}

// operation returns the method and path of x as the contract writes them.
func operation(r *conformance.Report, x conformance.Exchange) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(x.URL, r.URL), r.MessagesURL), "?")
	if strings.HasPrefix(path, "/pets/") {
		path = "/pets/{petId}"
	}
	return x.Method + " " + path
}
