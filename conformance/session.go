package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Session judges one target, check by check. Its methods are safe for
// concurrent use.
type Session struct {
	target  Target
	opts    Options
	client  *client
	redact  *strings.Replacer
	tag     string // in the name of everything that this run creates
	began   time.Time
	checks  []Check
	skipped map[string]string // why a check does not run, by id
	known   map[string]string // reasons, by id
	start   start

	stocking sync.Mutex // held while pets are added to a number

	mu      sync.Mutex
	memos   map[string]*memo
	results map[string]Result
	left    LeftBehind
	givers  map[int64]*exchange // the creations, by the id that they gave
	twice   *exchange           // one that gave an id of another; nil: none
	made    map[string]int      // pets created, by status
}

// Open gets ready to judge target: it checks the arguments and looks whether
// a petstore answers there. Errors caused by the arguments have
// [ErrOptions] in their tree; any other says in one line why the target
// cannot be judged.
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
		client:  newClient(target, o),
		redact:  newRedactor(target.Key),
		tag:     fmt.Sprintf("conformance-%08x", rand.Uint32()),
		began:   time.Now(),
		checks:  Checks(),
		memos:   make(map[string]*memo),
		results: make(map[string]Result),
		made:    make(map[string]int),
		givers:  make(map[int64]*exchange),
	}
	if err := s.selectChecks(); err != nil {
		return nil, err
	}
	if s.known, err = knownFailures(o.Known, s.checks); err != nil {
		return nil, err
	}
	if err := s.preflight(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close lets go of the connections to the target.
func (s *Session) Close() { s.client.close() }

// Checks returns every check in the order in which they should run: those
// that work best while the run has created little come first.
func (s *Session) Checks() []Check { return inOrder(s.checks) }

// Skipped returns why the check with that id does not run; "" if it does.
func (s *Session) Skipped(id string) string { return s.skipped[id] }

// Judge runs the check with that id and returns what it found; a check that
// was run before runs again. It panics if there is no such check.
func (s *Session) Judge(ctx context.Context, id string) Result {
	i := slices.IndexFunc(s.checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		panic("conformance: no check has the id " + id)
	}
	r := s.judge(ctx, s.checks[i])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[id] = r
	return r
}

func (s *Session) judge(ctx context.Context, c Check) Result {
	r := Result{Check: c, Proof: -1}
	if why := s.skipped[c.ID]; why != "" {
		r.Verdict, r.Message = Skip, why
		return r
	}
	p := &probe{ctx: ctx, s: s, check: c.ID}
	began := time.Now()
	err := c.run(p)
	r.Seconds = time.Since(began).Seconds()

	var proof *exchange
	r.Verdict, proof = verdictOf(c.Level, err)
	if err != nil {
		r.Message = printable(s.redact.Replace(err.Error()))
	}
	if reason, ok := s.known[c.ID]; ok {
		r.Known = reason
		r.Stale = r.Verdict == Pass
	}
	for _, o := range p.notes {
		r.Observations = append(r.Observations, Observation{
			printable(s.redact.Replace(o.What)), printable(s.redact.Replace(o.Got)),
		})
	}
	s.addExchanges(&r, p.exchanges, proof)
	return r
}

// How much of the exchanges a report shows: a passing check is shown by
// example, a failed one in full.
const (
	passingExchanges = 2
	passingBody      = 600
	failingExchanges = 40
	failingBody      = 16 << 10
)

func (s *Session) addExchanges(r *Result, xs []*exchange, proof *exchange) {
	count, limit := passingExchanges, passingBody
	if r.Verdict != Pass {
		count, limit = failingExchanges, failingBody
	}
	r.Sent = len(xs)
	if proof != nil && !slices.Contains(xs, proof) {
		xs = append(xs, proof)
	}
	for _, x := range xs {
		if x != proof && len(r.Exchanges) >= count {
			continue
		}
		if x == proof {
			r.Proof = len(r.Exchanges)
		}
		r.Exchanges = append(r.Exchanges, x.render(s.redact, limit))
	}
}

// Run judges target with every check that opts selects. An error means that
// the target could not be judged at all, for the reasons of [Open]; a target
// that is lost on the way gives an incomplete report.
//
// What is judged and how stand apart, in target and opts, because only the
// first has anything that must be given.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	s, err := Open(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, st := range []stage{stageFew, stageMany} {
		s.runStage(ctx, st)
	}
	return s.Report(), nil
}

// runStage runs the checks of a stage, opts.Parallel at a time.
func (s *Session) runStage(ctx context.Context, st stage) {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, s.opts.Parallel)
		done  sync.Mutex
	)
	for _, c := range s.checks {
		if c.stage != st {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r := s.Judge(ctx, c.ID)
			if s.opts.Done != nil {
				done.Lock()
				defer done.Unlock()
				s.opts.Done(r)
			}
		})
	}
	wg.Wait()
}
