package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// What a failure is worth: a run that fails takes little longer than one that passes,
// and leaves few more pets behind.
const (
	repeats     = 3               // how often a check is repeated
	maxRepeated = 20              // how many checks are, those of other causes first
	repeatTime  = 3 * time.Second // for all of them together
)

// always says in [Result.Repeated] that a failure occurred each time.
const always = "always"

// failure is a check that failed, and what became of it when it was repeated.
type failure struct {
	check  Check
	result *Result
	proof  *probe.Exchange

	ran    int  // how often it was repeated with a result
	failed int  // how often it failed again
	reused bool // it fails only on a reused connection
}

// failures returns the failures to repeat.
func (s *session) failures(results []Result, ends []*ending) []*failure {
	var all []*failure
	before := make(map[*failure]int) // how many of the same cause come before
	seen := make(map[string]int)     // by kind
	for i := range results {
		r := &results[i]
		if (r.Verdict == Fail || r.Verdict == Warn) && r.Proof >= 0 {
			f := &failure{check: s.checks[i], result: r, proof: ends[i].proof}
			before[f] = seen[r.Violation.Kind]
			seen[r.Violation.Kind]++
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *failure) int { return before[a] - before[b] })
	return all[:min(len(all), maxRepeated)]
}

// repeatFailures runs checks that failed again, after all others, with nothing else
// under way and each request on a connection of its own, for at most the time limit.
// ends are the endings of the checks.
func (s *session) repeatFailures(ctx context.Context, results []Result, ends []*ending, limit time.Duration) {
	failures := s.failures(results, ends)
	if len(failures) == 0 || limit == 0 || ctx.Err() != nil {
		return
	}
	s.client.Reuse(false)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var quick, slow, passed []*failure
	for _, f := range failures {
		if f.check.slow {
			slow = append(slow, f)
		} else {
			quick = append(quick, f)
		}
	}
	for n := range repeats {
		s.repeat(ctx, fmt.Sprint("again-", n+1), quick)
	}
	for _, f := range quick {
		f.reused = f.proof.Before != nil || f.failed == 0 && s.failsReused(ctx, f.proof)
		if f.failed == 0 && f.ran > 0 && !f.reused {
			passed = append(passed, f)
		}
	}
	if len(passed) > 0 && !s.opts.ReadOnly {
		for n := range repeats {
			s.repeatBusy(ctx, fmt.Sprint("again-busy-", n+1), passed)
		}
	}
	s.repeat(ctx, "again", slow)
	for _, f := range failures {
		f.result.Repeated = f.describe(slices.Contains(passed, f), ctx.Err() != nil)
		if f.result.Repeated != "" && f.result.Repeated != always {
			f.result.Exchanges[f.result.Proof].Curl = f.proof.Curl(s.redact) + " # repeated: " + f.result.Repeated
		}
	}
}

// again returns a session that continues s with other names. Checks share nothing of
// what they shared in s.
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
	if len(failures) == 0 || ctx.Err() != nil {
		return
	}
	again := s.again(name)
	again.opts.Parallel, again.opts.Done = 1, nil
	again.checks = nil
	for _, f := range failures {
		c := f.check
		c.run = func(t *tester) {
			if c.every != nil { // it judges what others send
				_, _ = s.client.Do(t.ctx, f.proof.Request)
			}
			if f.check.run != nil {
				f.check.run(t)
			}
			if t.ctx.Err() != nil {
				unavailable(nil, "the time is over")
			}
		}
		again.checks = append(again.checks, c)
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

// describe says when f fails. busy says that it was repeated while others wrote too,
// after it had passed; over, that there was no time to repeat everything.
func (f *failure) describe(busy, over bool) string {
	switch {
	case f.reused:
		return "only on a reused connection"
	case f.ran == 0 && over:
		return ""
	case f.ran == 0:
		return "not possible"
	case f.failed == f.ran:
		return always
	case busy && f.failed > 1:
		return "only while others write"
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

// repeatBusy repeats failures while others add a few pets and read lists.
func (s *session) repeatBusy(ctx context.Context, name string, failures []*failure) {
	const writers, pets, lists = 4, 3, 50
	busy, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for i := range writers {
		t := &tester{ctx: ctx, s: s.again("busy"), check: fmt.Sprint("writer-", i+1)}
		wg.Go(func() {
			for n := 0; n < lists && busy.Err() == nil; n++ {
				attempt(func() {
					if n < pets {
						t.add("available")
					}
					t.get(allPets("available"))
				})
			}
		})
	}
	s.repeat(ctx, name, failures)
	stop()
	wg.Wait()
}
