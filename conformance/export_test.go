package conformance

import "context"

// Sent runs against the target and returns every exchange, and the IDs of the checks that
// each of them violates.
func Sent(ctx context.Context, target Target, opts *Options) ([]*Proof, map[*Proof][]string, error) {
	r, err := newRun(ctx, target, opts)
	if err != nil {
		return nil, nil, err
	}
	r.playScenarios(scenarios)
	var proofs []*Proof
	violates := make(map[*Proof][]string)
	for _, x := range r.exchanges {
		p := r.proof(x)
		proofs = append(proofs, p)
		for _, c := range Checks() {
			for _, v := range r.tallies[c.ID].violations {
				if v.x == x {
					violates[p] = append(violates[p], c.ID)
				}
			}
		}
	}
	return proofs, violates, nil
}

// RunUntil is Run without the scenarios that follow the one in which the check with that ID
// fails.
func RunUntil(ctx context.Context, target Target, opts *Options, check string) (*Report, error) {
	r, err := newRun(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	var until []func(*run)
	for _, scenario := range scenarios {
		until = append(until, func(r *run) {
			if t := r.tallies[check]; t == nil || len(t.violations) == 0 {
				scenario(r)
			}
		})
	}
	return r.playScenarios(until), nil
}
