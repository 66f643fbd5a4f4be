package conformance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// repeats is how often a failure is repeated.
const repeats = 3

// always says in [Result.Repeated] that a failure occurred each time.
const always = "always"

// failure is a check that failed, and what became of it when it was repeated.
type failure struct {
	check  Check
	result *Result
	proof  *probe.Exchange

	ran    int // how often it was repeated with a result
	failed int // how often it failed again
}

// repeatFailures runs every check that failed again, after all others, with nothing
// else under way and each request on a connection of its own. It takes at most as
// long as one request may. ends are the endings of the checks.
func (s *session) repeatFailures(ctx context.Context, results []Result, ends []*ending) {
	var failures []*failure
	for i := range results {
		r := &results[i]
		if (r.Verdict == Fail || r.Verdict == Warn) && r.Proof >= 0 {
			failures = append(failures, &failure{check: s.checks[i], result: r, proof: ends[i].proof})
		}
	}
	if len(failures) == 0 || ctx.Err() != nil {
		return
	}
	s.client.Reuse(false)
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	for n := range repeats {
		s.repeat(ctx, fmt.Sprint("again-", n+1), failures)
	}
	for _, f := range failures {
		f.result.Repeated = s.describe(ctx, f)
		if f.result.Repeated != always {
			f.result.Exchanges[f.result.Proof].Curl = f.proof.Curl(s.redact) + " # repeated: " + f.result.Repeated
		}
	}
}

// again returns a session that goes on where s is, with other names. What checks
// share is made anew.
func (s *session) again(name string) *session {
	again := *s
	again.mark = s.mark + "-" + name
	again.shared = make(map[string]*sharedResult)
	again.began = time.Now()
	return &again
}

// repeat runs the checks of failures again, one after another. One that fails
// because of what was sent before, or that ends otherwise, has no result.
func (s *session) repeat(ctx context.Context, name string, failures []*failure) {
	again := s.again(name)
	again.opts.Parallel, again.opts.Done = 1, nil
	again.checks = nil
	for _, f := range failures {
		again.checks = append(again.checks, f.check)
		if f.check.every != nil { // it judges what others send
			_, _ = s.client.Do(ctx, f.proof.Request)
		}
	}
	_, ends := again.runChecks(ctx)
	for i, f := range failures {
		switch e := ends[i]; {
		case e == nil:
			f.ran++
		case e.verdict == Fail && e.proof != nil && !e.proof.Sent.Before(again.began):
			f.ran++
			f.failed++
		}
	}
}

// describe says when f fails.
func (s *session) describe(ctx context.Context, f *failure) string {
	switch {
	case f.proof.Before != nil || f.failed == 0 && s.failsReused(ctx, f.proof):
		return "only on a reused connection"
	case f.ran == 0:
		return "not possible"
	case f.failed == f.ran:
		return always
	}
	if f.failed == 0 && !s.opts.ReadOnly {
		if s.repeatBusy(ctx, f); f.failed > 1 {
			return "only while others write"
		}
	}
	return fmt.Sprintf("sometimes, %d of %d", f.failed+1, f.ran+1)
}

// failsReused reports whether the request of proof gets the same status every time
// on the connection of the request before, and another one on a new connection.
func (s *session) failsReused(ctx context.Context, proof *probe.Exchange) bool {
	before := s.client.Before(proof)
	if before == nil {
		return false
	}
	s.client.Reuse(true)
	defer s.client.Reuse(false)
	t := &tester{ctx: ctx, s: s}
	for range repeats {
		if _, x := t.sendAfter(before.Request, proof.Request); !x.Reused || x.Status != proof.Status {
			return false
		}
	}
	if alone := t.sendAlone(proof.Request); alone.Status == 0 || alone.Status == proof.Status {
		return false
	}
	proof.Before = before
	return true
}

// repeatBusy repeats f while others add pets and read lists.
func (s *session) repeatBusy(ctx context.Context, f *failure) {
	const writers = 4
	busy, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for i := range writers {
		t := &tester{ctx: ctx, s: s.again("busy"), check: fmt.Sprint("writer-", i+1)}
		wg.Go(func() {
			for busy.Err() == nil {
				attempt(func() {
					t.add("available")
					t.listing("available")
				})
			}
		})
	}
	for n := range repeats {
		s.repeat(ctx, fmt.Sprint("again-busy-", n+1), []*failure{f})
	}
	stop()
	wg.Wait()
}
