package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// probe is what a check works with: the session, and a record of what it did.
// It is for one goroutine; [parallel] gives others their own.
type probe struct {
	ctx       context.Context
	s         *Session
	check     string
	names     int
	exchanges []*exchange
	notes     []Observation
}

// do sends r. An error is how the check ends, unless it knows better: a
// violation if the target drops this very request, else an unavailability.
func (p *probe) do(r request) (*exchange, error) {
	x, err := p.s.client.do(p.ctx, r)
	p.exchanges = append(p.exchanges, x)
	p.s.keepTrack(x)
	switch {
	case err == nil && x.status == http.StatusTooManyRequests:
		return x, unavailablef(x, "the target keeps answering 429 Too Many Requests")
	case err == nil:
		return x, nil
	case p.ctx.Err() != nil:
		return x, unavailablef(x, "the run was stopped")
	case isTimeout(err):
		return x, unavailablef(x, "no answer within %v", p.s.opts.Timeout)
	case isDial(err) || !p.alive():
		return x, unavailablef(x, "the target went away: %v", err)
	}
	return x, violationf(x, "%v; it was sent %d times, while other requests are answered", err, x.attempts)
}

// alive reports whether the target answers a plain request.
func (p *probe) alive() bool {
	x := p.s.client.once(p.ctx, get("/pets?limit=1"))
	return x.status != 0 && x.status != http.StatusServiceUnavailable
}

// get sends a GET with the valid key.
func (p *probe) get(path string) (*exchange, error) { return p.do(get(path)) }

// want says what is wrong if x does not have the status that the contract
// gives it.
func (p *probe) want(x *exchange, status int, because string) error {
	if x.status == status {
		return nil
	}
	return p.unwanted(x, fmt.Sprintf("%d", status), because)
}

// unwanted says that x does not have the status that the contract gives it.
// A target that cannot serve requests now is not at fault, unless it is this
// very request that it cannot serve.
func (p *probe) unwanted(x *exchange, want, because string) error {
	switch x.status {
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		if strings.HasPrefix(want, "2") || !p.alive() {
			return unavailablef(x, "the target answers %s and does not serve the request", x.statusLine())
		}
	}
	return violationf(x, "%s: the answer is %s, not %s", because, x.statusLine(), want)
}

// note records what the target does where the contract says nothing.
func (p *probe) note(what, format string, args ...any) {
	p.notes = append(p.notes, Observation{what, fmt.Sprintf(format, args...)})
}

// name returns a name for a pet that nothing else has, in this run or in
// any other.
func (p *probe) name() string {
	p.names++
	return fmt.Sprintf("%s-%s-%d", p.s.tag, p.check, p.names)
}

// random returns the check's own source, which depends on the run's seed
// only, whatever else runs.
func (p *probe) random() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(p.check))
	return rand.New(rand.NewPCG(p.s.opts.Seed, h.Sum64()))
}

// memo holds something that several checks need and that is made once.
type memo struct {
	once      sync.Once
	value     any
	err       error
	exchanges []*exchange
}

// once returns what f makes, calling it for the first check that asks. The
// exchanges that it took are shown with every check that uses it.
func once[T any](p *probe, key string, f func(*probe) (T, error)) (T, error) {
	p.s.mu.Lock()
	m := p.s.memos[key]
	if m == nil {
		m = new(memo)
		p.s.memos[key] = m
	}
	p.s.mu.Unlock()
	m.once.Do(func() {
		sub := &probe{ctx: p.ctx, s: p.s, check: key}
		m.value, m.err = f(sub)
		m.exchanges = sub.exchanges
	})
	p.exchanges = append(p.exchanges, m.exchanges...)
	v, _ := m.value.(T)
	return v, m.err
}

// parallel calls f n times, at most limit at a time, each with a probe of its
// own whose names say which it is, and returns the first error in their
// order.
func (p *probe) parallel(n, limit int, f func(p *probe, i int) error) error {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, limit)
		subs  = make([]*probe, n)
		errs  = make([]error, n)
	)
	for i := range n {
		subs[i] = &probe{ctx: p.ctx, s: p.s, check: fmt.Sprintf("%s-%d", p.check, i+1)}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(subs[i], i)
		})
	}
	wg.Wait()
	var first error
	for i, sub := range subs {
		p.exchanges = append(p.exchanges, sub.exchanges...)
		if first == nil {
			first = errs[i]
		}
	}
	return first
}

// value returns the JSON that x's body must be.
func (x *exchange) value() (jsontext.Value, error) {
	v, err := parse(x.body)
	if err != nil {
		return nil, violationf(x, "%v", err)
	}
	return v, nil
}

// isJSON says what is wrong if x is not declared to be JSON.
func (x *exchange) isJSON() error {
	ct := x.header.Get("Content-Type")
	if ct == "" {
		return violationf(x, "the answer has no Content-Type; it must be application/json")
	}
	// Parameters, well formed or not, are no matter of the contract.
	if media, _, _ := mime.ParseMediaType(ct); media != "application/json" {
		return violationf(x, "the answer's Content-Type is %q, not application/json", ct)
	}
	return nil
}
