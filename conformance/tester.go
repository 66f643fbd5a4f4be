package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"example.com/animalstore/conformance/internal/probe"
)

// tester is what a check works with: it sends requests and records the
// exchanges. It is for one goroutine; parallel gives others their own.
type tester struct {
	ctx          context.Context
	s            *Session
	check        string // in the names of pets that it creates
	names        int
	exchanges    []*probe.Exchange
	observations []Observation
}

// do sends r. An error ends most checks: it is a violation if the target drops
// this request and responds to others, and otherwise says that the target is
// unavailable.
func (t *tester) do(r probe.Request) (*probe.Exchange, error) {
	x, err := t.s.client.Do(t.ctx, r)
	t.exchanges = append(t.exchanges, x)
	t.s.recordCreated(x)
	switch {
	case err == nil && x.Status == http.StatusTooManyRequests:
		return x, unavailablef(x, "the target keeps responding 429 Too Many Requests")
	case err == nil:
		return x, nil
	case t.ctx.Err() != nil:
		return x, unavailablef(x, "the run was stopped")
	case probe.IsTimeout(err):
		return x, unavailablef(x, "no response within %v", t.s.opts.Timeout)
	case probe.IsUnreachable(err) || !t.alive():
		return x, unavailablef(x, "the target cannot be reached any more: %v", err)
	}
	return x, violationf(x, "%v; the request was sent %d times, and other requests get responses", err, x.Attempts)
}

// alive reports whether the target serves a simple request.
func (t *tester) alive() bool {
	x := t.s.client.Send(t.ctx, probe.Get("/pets?limit=1"))
	return x.Status != 0 && x.Status != http.StatusServiceUnavailable
}

func (t *tester) get(path string) (*probe.Exchange, error) { return t.do(probe.Get(path)) }

// wantStatus returns an error if x has another status than the contract says.
// The reason says why it has to have that one.
func (t *tester) wantStatus(x *probe.Exchange, status int, reason string) error {
	if x.Status == status {
		return nil
	}
	return t.wrongStatus(x, fmt.Sprint(status), reason)
}

// wrongStatus returns an error for the status of x. A target that cannot serve
// requests now is unavailable, unless only this request has that status.
func (t *tester) wrongStatus(x *probe.Exchange, want, reason string) error {
	switch x.Status {
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		if strings.HasPrefix(want, "2") || !t.alive() {
			return unavailablef(x, "the target responds %s and does not serve the request", x.StatusLine())
		}
	}
	return violationf(x, "%s: the response is %s, want %s", reason, x.StatusLine(), want)
}

// observe records what the target does.
func (t *tester) observe(what, format string, args ...any) {
	t.observations = append(t.observations, Observation{what, fmt.Sprintf(format, args...)})
}

// observeRequest sends r and records the response. That the target drops the
// connection or does not respond in time is recorded too. An error says that it
// cannot be reached.
func (t *tester) observeRequest(what string, r probe.Request) (*probe.Exchange, error) {
	x, err := t.do(r)
	if errors.As(err, new(*unavailable)) && !probe.IsTimeout(x.Err) {
		return x, err
	}
	t.observe(what, "%s", summary(x))
	return x, nil
}

// summary describes a response in a few words.
func summary(x *probe.Exchange) string {
	s := x.StatusLine()
	v, err := probe.ParseJSON(x.Body)
	switch {
	case x.Status == 0:
		return s
	case len(x.Body) == 0:
		return s + ", no body"
	case err != nil:
		return s + ", a body that is not JSON"
	case v.Kind() == '[':
		elements, _ := probe.ParseArray(v)
		return fmt.Sprintf("%s, %d pets", s, len(elements))
	}
	if o, err := probe.ParseObject(v); err == nil {
		if code, err := o.Str("code"); err == nil && x.Status >= 400 {
			return s + ", code " + probe.Short(code)
		}
	}
	return s
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

// name returns a name for a pet that no other pet has, of this run or of any
// other.
func (t *tester) name() string {
	t.names++
	return fmt.Sprintf("%s-%s-%d", t.s.mark, t.check, t.names)
}

// random returns a random source that depends on the seed and the check alone.
func (t *tester) random() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(t.check))
	return rand.New(rand.NewPCG(t.s.opts.Seed, h.Sum64()))
}

// sharedResult is a result that several checks need.
type sharedResult struct {
	once      sync.Once
	value     any
	err       error
	exchanges []*probe.Exchange
}

// share returns the result of f, which it calls for the first check that asks
// for key. Every check that uses the result shows the exchanges of f.
func share[T any](t *tester, key string, f func(*tester) (T, error)) (T, error) {
	t.s.mu.Lock()
	r := t.s.shared[key]
	if r == nil {
		r = new(sharedResult)
		t.s.shared[key] = r
	}
	t.s.mu.Unlock()
	r.once.Do(func() {
		sub := &tester{ctx: t.ctx, s: t.s, check: key}
		r.value, r.err = f(sub)
		r.exchanges = sub.exchanges
	})
	t.exchanges = append(t.exchanges, r.exchanges...)
	v, _ := r.value.(T)
	return v, r.err
}

// parallel calls f n times, at most limit at a time, each with a tester of its
// own, and returns the first error in the order of i.
func (t *tester) parallel(n, limit int, f func(t *tester, i int) error) error {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, limit)
		subs  = make([]*tester, n)
		errs  = make([]error, n)
	)
	for i := range n {
		subs[i] = &tester{ctx: t.ctx, s: t.s, check: fmt.Sprintf("%s-%d", t.check, i+1)}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(subs[i], i)
		})
	}
	wg.Wait()
	var first error
	for i, sub := range subs {
		t.exchanges = append(t.exchanges, sub.exchanges...)
		if first == nil {
			first = errs[i]
		}
	}
	return first
}
