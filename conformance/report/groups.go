package report

import (
	"fmt"
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
	path, ok := strings.CutPrefix(x.URL, r.URL+"/")
	if !ok {
		path = strings.TrimPrefix(x.URL, r.MessagesURL+"/")
	}
	path, _, _ = strings.Cut(path, "?")
	if id, ok := strings.CutPrefix(path, "pets/"); ok && id != "" {
		path = "pets/{petId}"
	}
	return x.Method + " /" + path
}

// alwaysFails returns a line for each operation that failed checks and to which
// the target responded with the same error whenever the valid key was sent. The
// route may be missing, for example.
func alwaysFails(r *conformance.Report) []string {
	const enough = 3                         // requests
	statuses := make(map[string]map[int]int) // how often, by operation
	for _, result := range r.Results {
		for _, x := range result.Exchanges {
			if op := operation(r, x); withKey(x) {
				if statuses[op] == nil {
					statuses[op] = make(map[int]int)
				}
				statuses[op][x.Status]++
			}
		}
	}
	var lines []string
	for _, result := range r.Results {
		if result.Proof < 0 || !slices.Contains([]conformance.Verdict{conformance.Fail, conformance.Warn, conformance.Errored}, result.Verdict) {
			continue
		}
		x := result.Exchanges[result.Proof]
		op := operation(r, x)
		if op == "GET /pets/{petId}" && len(r.Left.Pets) == 0 {
			continue // there may be no pet
		}
		line := fmt.Sprintf("Every %s with the valid key gets %s.", op, probe.StatusLine(x.Status))
		if withKey(x) && (x.Status == 0 || x.Status >= 400) && len(statuses[op]) == 1 && statuses[op][x.Status] >= enough && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// withKey reports whether the request had the valid key.
func withKey(x conformance.Exchange) bool {
	return slices.Contains(x.RequestHeader, conformance.Field{Name: "Authorization", Value: probe.ValidKey().Shown})
}
