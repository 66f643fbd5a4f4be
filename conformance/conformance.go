// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is not judged. Each check names the section of the
// contract, or of an RFC, that states it. A failure comes with the exchange that proves
// it and a curl command to repeat it.
//
// Package conformancetest makes each check a subtest of go test, and cmd/conformance is a command.
//
// The target may have any pets before a run. During the run nobody else may use it. A run adds more
// pets than a list can show, and reports what it leaves behind, because the contract has no way to
// delete pets. It sends the API key to nobody else. Reports show [key] where the target echoes one of at least
// 16 characters.
package conformance

import (
	"context"
	"time"
)

// scenarios are what a run does, in this order. They send requests and judge the responses.
var scenarios = []func(*run){
	(*run).listsAtStart,
	// There are fewer pets than a list can show.
	(*run).firstPets,
	(*run).unusualValues,
	(*run).timePasses,
	(*run).wrongIDs,
	(*run).wrongBodies,
	(*run).badKeys,
	(*run).sameRequests,
	(*run).look,
	(*run).concurrentRequests,
	(*run).unusualClients,
	// There are more.
	(*run).fillUp,
	(*run).limits,
	(*run).look,
	(*run).loneSurrogate,
}

// Run judges target with every check that opts selects. Every error is about the
// arguments. If the target cannot be judged, the report says why.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	r, err := newRun(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	return r.playScenarios(scenarios), nil
}

// playScenarios does what a run does, and returns its report.
func (r *run) playScenarios(scenarios []func(*run)) *Report {
	began := time.Now()
	defer r.stop(nil)
	defer r.client.Disconnect()
	if err := r.findTarget(); err != nil {
		r.tallies = newTallies() // what it responded is not that of a petstore
		r.stop(err)
		return r.report(began)
	}
	for _, scenario := range scenarios {
		scenario(r)
		r.playAll()
	}
	for _, judge := range r.atEnd {
		judge()
	}
	return r.report(began)
}
