// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is recorded and not judged. Each check belongs to
// a statement of the contract, or of an RFC. A failure comes with the exchange
// that proves it and a curl command to repeat it.
//
// [Run] judges a target with every check and returns a [Report], which package
// report writes as text, JSON, JUnit XML, HTML or Markdown. Package conformancetest
// makes each check a subtest of go test. [Soak] loads a target for a long time.
// Command cmd/conformance needs no Go toolchain where it runs.
//
// A run assumes nothing about the state of the target: it may have any number of
// pets with any ids in any order, and other clients may use it meanwhile. A run
// adds pets with names that no other run uses, as many as it needs to test the
// limits of a list, and reports what it leaves behind, because the contract has
// no way to delete pets. If the state of the target does not allow a check to
// tell, for example because the store has too many pets for a list to show a new
// one, the check is inconclusive.
//
// The API key is sent to the target and nowhere else. Reports do not have it,
// even if the target echoes it.
package conformance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// session is a run of checks against one target.
type session struct {
	target Target
	opts   Options
	client *probe.Client
	redact probe.Redactor
	mark   string // in nearly every name and text that the session sends
	checks []Check
	skip   map[string]string          // why a check does not run, by ID
	known  map[string]string          // why a check is expected to fail, by ID
	start  map[string]*probe.Exchange // lists before anything was created, by status; "": all
	began  time.Time                  // rules apply only to what was sent since
	stop   context.CancelCauseFunc    // ends the run

	// A session that continues this one shares what these point to: see again.
	stocking *sync.Mutex // held while stock adds pets
	listings *listings
	mu       *sync.Mutex // held for shared and created
	created  *created

	shared map[string]*sharedResult
}

// retryPatience is how long a run waits in all before it sends requests again that
// were not served, unless the target asks it to wait.
const retryPatience = 10 * time.Second

// Run judges target with every check that opts selects. An error about the
// arguments wraps [ErrOptions]. Any other error says in one line why the target
// cannot be judged. If the target stops responding during the run, the
// report is incomplete.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	return run(ctx, target, opts, repeatTime)
}

// run is Run. It repeats failures for at most the time limit.
func run(ctx context.Context, target Target, opts *Options, limit time.Duration) (*Report, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	defer s.client.Close()
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	s.client.Patience, s.client.Yield = retryPatience, true
	began := time.Now()
	if err := s.findPetstore(ctx); err != nil {
		return nil, err
	}
	results, ends := s.runChecks(ctx)
	s.repeatFailures(ctx, results, ends, limit)
	s.nameOrigins(results, ends)
	return s.report(began, results), nil
}

// newSession returns a session that has sent nothing yet.
func newSession(target Target, opts *Options) (*session, error) {
	target, err := target.clean()
	if err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &session{
		target: target,
		opts:   o,
		client: probe.NewClient(probe.Config{
			URL: target.URL, MessagesURL: target.MessagesURL, Key: target.Key, Header: o.Header,
			Timeout: o.Timeout, Interval: o.interval(), TLS: o.TLS, Transport: o.Transport,
		}),
		redact: probe.NewRedactor(target.Key, ordinaryText(), slices.Concat(slices.Collect(maps.Values(o.Header))...)...),
		mark:   fmt.Sprintf("conformance-%08x", rand.Uint32()),
		checks: Checks(),
		stop:   func(error) {},

		stocking: new(sync.Mutex),
		listings: &listings{lists: make(map[*probe.Exchange]listing), elements: make(elements)},
		mu:       new(sync.Mutex),
		shared:   make(map[string]*sharedResult),
		created:  new(created),
	}
	if err := s.skipChecks(); err != nil {
		return nil, err
	}
	s.known, err = knownFailures(o.Known, s.checks)
	return s, err
}

// skipChecks records which checks do not run, and why.
func (s *session) skipChecks() error {
	selected, err := Select(s.opts.Run, s.opts.Skip, s.opts.Sections)
	if err != nil {
		return err
	}
	s.skip = make(map[string]string)
	for _, c := range s.checks {
		switch {
		case !slices.ContainsFunc(selected, func(o Check) bool { return o.ID == c.ID }):
			s.skip[c.ID] = "not selected"
		case s.opts.ReadOnly && c.Writes:
			s.skip[c.ID] = "read-only"
		case c.Feature == FeatureMessages && s.target.MessagesURL == "":
			s.skip[c.ID] = "no messages URL"
		}
	}
	if len(s.skip) == len(s.checks) {
		return optionsError("no check is left to run")
	}
	return nil
}

// runChecks runs the checks, phase by phase, and then judges the whole run by their
// rules. It returns the results and endings of the checks.
func (s *session) runChecks(ctx context.Context) ([]Result, []*ending) {
	results, ends := make([]Result, len(s.checks)), make([]*ending, len(s.checks))
	runs := make([]*checkRun, len(s.checks))
	var done sync.Mutex
	finish := func(i int) {
		results[i], ends[i] = s.result(runs[i]), runs[i].end
		if s.opts.Done != nil {
			done.Lock()
			defer done.Unlock()
			s.opts.Done(results[i])
		}
	}
	for phase := first; phase < phases; phase++ {
		parallel := s.opts.Parallel
		if phase == alone {
			parallel = 1
		}
		concurrently(len(s.checks), parallel, func(i int) {
			if s.checks[i].phase != phase {
				return
			}
			runs[i] = s.run(ctx, s.checks[i])
			if !runs[i].needsHistory() {
				finish(i)
			}
		})
	}
	t := &tester{ctx: ctx, s: s}
	for _, status := range append(statuses(), "") {
		if len(s.addedPets()) > 0 {
			attempt(func() { t.listing(status) }) // rules compare earlier lists with it
		}
	}
	h := s.newHistory()
	concurrently(len(s.checks), s.opts.Parallel, func(i int) {
		if runs[i].needsHistory() {
			runs[i].judge(h)
			finish(i)
		}
	})
	return results, ends
}

// checkRun is the run of a check.
type checkRun struct {
	check   Check
	t       *tester
	skipped string // why it did not run
	seconds float64
	end     *ending
}

// run runs c, without its rule.
func (s *session) run(ctx context.Context, c Check) *checkRun {
	r := &checkRun{check: c, skipped: s.skip[c.ID], t: &tester{ctx: ctx, s: s, check: c.ID}}
	if r.skipped == "" && c.run != nil {
		began := time.Now()
		r.end = attempt(func() { c.run(r.t) })
		r.seconds = time.Since(began).Seconds()
	}
	return r
}

// needsHistory reports whether the check can only end when all have run: it has a
// rule, or its message may have to name another check.
func (r *checkRun) needsHistory() bool {
	return r.skipped == "" && (r.check.every != nil || r.end != nil && len(r.end.because) > 0)
}

// judge ends the check by its rule. If it is inconclusive because a response violates
// the rule of another check, the message names that check.
func (r *checkRun) judge(h *history) {
	if every := r.check.every; every != nil && (r.end == nil || r.end.verdict != Fail) {
		e := attempt(func() { every.judge(h) })
		if e != nil && e.verdict == Inconclusive {
			e.because = r.t.exchanges
		}
		if r.end == nil || e != nil && e.verdict == Fail {
			r.end = e
		}
	}
	if r.end != nil && r.end.verdict == Inconclusive {
		if id := h.violated(r.end.because); id != "" {
			r.end = r.end.with("%s; see %s", r.end.message, id)
		}
	}
}

// result returns the result of a check.
func (s *session) result(run *checkRun) Result {
	c, t, end := run.check, run.t, run.end
	r := Result{Check: c, Proof: -1, Seconds: run.seconds}
	if run.skipped != "" {
		r.Verdict, r.Message = Skip, run.skipped
		return r
	}
	r.Verdict = Pass
	var proof *probe.Exchange
	if end != nil {
		r.Verdict, proof, r.Message = c.Level.judge(end.verdict), end.proof, s.redact.Show(end.message)
		t.record(proof)
	}
	if r.Verdict == Fail || r.Verdict == Warn {
		r.Violation = end.violation(c)
		r.Violation.Kind, r.Violation.What = s.redact.Show(r.Violation.Kind), s.redact.Show(r.Violation.What)
	}
	if reason, ok := s.known[c.ID]; ok {
		r.Known = reason
		r.Stale = r.Verdict == Pass
	}
	for _, o := range t.observations {
		r.Observations = append(r.Observations, Observation{s.redact.Show(o.What), s.redact.Show(o.Got)})
	}
	r.addExchanges(t.exchanges, proof, s.redact)
	return r
}
