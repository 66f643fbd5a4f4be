package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// cause is what several results have in common.
type cause struct {
	verdict Verdict
	known   bool
	what    string
	results []Result
}

// causes gathers results with the same verdict of which what says the same,
// those with the most results first.
func causes(results []Result, what func(Result) string) []cause {
	var all []cause
	for _, result := range results {
		c := cause{verdict: result.Verdict, known: result.Known != "", what: what(result)}
		i := slices.IndexFunc(all, func(o cause) bool {
			return o.verdict == c.verdict && o.known == c.known && o.what == c.what
		})
		if i < 0 {
			i = len(all)
			all = append(all, c)
		}
		all[i].results = append(all[i].results, result)
	}
	slices.SortStableFunc(all, func(a, b cause) int { return len(b.results) - len(a.results) })
	return all
}

// with returns the results of a verdict.
func (r *Report) with(v Verdict) []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(result Result) bool { return result.Verdict != v })
}

// answered says which operation the proof of result was, and how it was
// answered.
func (r *Report) answered(result Result) string {
	if result.Proof < 0 {
		return result.Message
	}
	x := result.Exchanges[result.Proof]
	return r.operation(x) + " " + x.outcome()
}

// operation returns x's method and path, as the contract writes it.
func (r *Report) operation(x Exchange) string {
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

// outcome says how e was answered.
func (e Exchange) outcome() string {
	if e.Status == 0 {
		return "got no answer"
	}
	return "was answered " + (&exchange{status: e.Status}).statusLine()
}

// always returns a line for each operation that failed checks and that the
// target answered in one way only, with an error, whenever the valid key was
// sent: a route that is missing, say, or a key that is for something else.
func (r *Report) always() []string {
	const enough = 3
	type tally struct{ all, same int }
	var (
		suspects []Exchange
		tallies  = make(map[string]*tally) // by operation of a suspect
	)
	for _, result := range r.Results {
		if result.Proof < 0 || !slices.Contains([]Verdict{Fail, Warn, Errored}, result.Verdict) {
			continue
		}
		x := result.Exchanges[result.Proof]
		op := r.operation(x)
		if op == "GET /pets/{petId}" && len(r.Left.Pets) == 0 {
			continue // there may be no pet to fetch
		}
		if withKey(x) && (x.Status == 0 || x.Status >= 400) && tallies[op] == nil {
			suspects, tallies[op] = append(suspects, x), new(tally)
		}
	}
	for _, suspect := range suspects {
		op := r.operation(suspect)
		for _, result := range r.Results {
			for _, x := range result.Exchanges {
				if withKey(x) && r.operation(x) == op {
					tallies[op].all++
					if x.Status == suspect.Status {
						tallies[op].same++
					}
				}
			}
		}
	}
	var lines []string
	for _, suspect := range suspects {
		op := r.operation(suspect)
		if n := tallies[op]; n.all >= enough && n.same == n.all {
			lines = append(lines, fmt.Sprintf("Every %s with the valid key %s, whatever it asked for.", op, suspect.outcome()))
		}
	}
	return lines
}

// withKey reports whether x carried the valid key.
func withKey(x Exchange) bool {
	return slices.Contains(x.RequestHeader, Field{"Authorization", validKey().shown})
}
