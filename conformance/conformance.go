// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is recorded and not judged. Each check belongs to
// a statement of the contract, or of an RFC. A failure comes with the exchange
// that proves it and a curl command to repeat it.
//
// [Run] judges a target with every check and returns a [Report], which package
// report writes as text, JSON, JUnit XML or HTML. [Open] returns a [Session],
// which runs checks one by one: package conformancetest uses it to make each check
// a subtest of go test. Command cmd/conformance needs no Go toolchain where it
// runs.
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
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Session runs checks one by one against one target. Its methods are safe for
// concurrent use.
type Session struct {
	target  Target
	opts    Options
	client  *probe.Client
	redact  probe.Redactor
	mark    string // in the name of everything that the session creates
	began   time.Time
	checks  []Check
	skipped map[string]string          // why a check does not run, by ID
	known   map[string]string          // why a check is expected to fail, by ID
	start   map[string]*probe.Exchange // lists before anything was created, by status; "": all

	stocking sync.Mutex // held while stock adds pets

	mu      sync.Mutex
	shared  map[string]*sharedResult
	results map[string]Result
	created created
}

// Run judges target with every check that opts selects. An error means that the
// target could not be judged, as [Open] describes. If the target stops
// responding during the run, the report is incomplete.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	s, err := Open(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var done sync.Mutex
	for _, late := range []bool{false, true} {
		checks := s.phase(late)
		concurrently(len(checks), s.opts.Parallel, func(i int) {
			r := s.Run(ctx, checks[i].ID)
			if s.opts.Done != nil {
				done.Lock()
				defer done.Unlock()
				s.opts.Done(r)
			}
		})
	}
	return s.Report(), nil
}

// Open checks the arguments and sends requests to find out whether a petstore
// responds at target. An error about the arguments has [ErrOptions] in its tree.
// Any other error says in one line why the target cannot be judged.
func Open(ctx context.Context, target Target, opts *Options) (*Session, error) {
	target, err := target.clean()
	if err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Session{
		target:  target,
		opts:    o,
		client:  probe.NewClient(target.URL, target.MessagesURL, target.Key, o.Timeout, o.Transport),
		redact:  probe.NewRedactor(target.Key),
		mark:    fmt.Sprintf("conformance-%08x", rand.Uint32()),
		began:   time.Now(),
		checks:  Checks(),
		shared:  make(map[string]*sharedResult),
		results: make(map[string]Result),
	}
	if err := s.skipChecks(); err != nil {
		return nil, err
	}
	if s.known, err = knownFailures(o.Known, s.checks); err != nil {
		return nil, err
	}
	if err := s.findPetstore(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// skipChecks records which checks do not run, and why.
func (s *Session) skipChecks() error {
	selected, err := Select(s.opts.Run, s.opts.Skip)
	if err != nil {
		return err
	}
	s.skipped = make(map[string]string)
	for _, c := range s.checks {
		switch {
		case !slices.ContainsFunc(selected, func(o Check) bool { return o.ID == c.ID }):
			s.skipped[c.ID] = "not selected"
		case s.opts.ReadOnly && c.Writes:
			s.skipped[c.ID] = "read-only"
		case c.Feature == FeatureMessages && s.target.MessagesURL == "":
			s.skipped[c.ID] = "no messages URL"
		}
	}
	if len(s.skipped) == len(s.checks) {
		return optionsError("no check is left to run")
	}
	return nil
}

// Close closes the connections to the target.
func (s *Session) Close() { s.client.Close() }

// Checks returns every check in the order in which they should run: first those
// that work best before the session has created many pets.
func (s *Session) Checks() []Check {
	return append(s.phase(false), s.phase(true)...)
}

// phase returns the checks that run late, or the others.
func (s *Session) phase(late bool) []Check {
	return slices.DeleteFunc(slices.Clone(s.checks), func(c Check) bool { return c.late != late })
}

// Skipped returns why the check with that ID does not run, or "" if it does.
func (s *Session) Skipped(id string) string { return s.skipped[id] }

// Run runs the check with that ID and returns its result, which replaces an
// earlier one in the report. It panics if no check has that ID.
func (s *Session) Run(ctx context.Context, id string) Result {
	c, ok := find(s.checks, func(c Check) bool { return c.ID == id })
	if !ok {
		panic("conformance: no check has the ID " + id)
	}
	r := s.run(ctx, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[id] = r
	return r
}

func (s *Session) run(ctx context.Context, c Check) Result {
	r := Result{Check: c, Proof: -1}
	if why := s.skipped[c.ID]; why != "" {
		r.Verdict, r.Message = Skip, why
		return r
	}
	t := &tester{ctx: ctx, s: s, check: c.ID}
	began := time.Now()
	end := attempt(func() { c.run(t) })
	r.Seconds = time.Since(began).Seconds()
	r.Verdict = Pass
	var proof *probe.Exchange
	if end != nil {
		r.Verdict, proof, r.Message = c.Level.judge(end.verdict), end.proof, s.redact.Show(end.message)
		t.record(proof)
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
