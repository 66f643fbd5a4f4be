package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// maxHangs is how many requests of a run are sent again because they got no response in
// time: each takes the time limit twice more.
const maxHangs = 6

// maxSilence ends a run: the target has responded to no request for that many time
// limits.
const maxSilence = 3

// tester is what a check works with. It is for one goroutine; parallel makes
// others.
type tester struct {
	ctx          context.Context
	s            *session
	check        string // in the names of pets that it creates
	names        int
	exchanges    []*probe.Exchange
	observations []Observation
}

// do sends r and returns the exchange. It ends the check if there is no response.
func (t *tester) do(r probe.Request) *probe.Exchange {
	x, e := t.try(r)
	e.end()
	return x
}

// try sends r. If there is no response, it returns how that ends most checks: with
// a violation if the target responds to other requests.
func (t *tester) try(r probe.Request) (*probe.Exchange, *ending) {
	x, err := t.s.client.Do(t.ctx, r)
	hangs := false
	if probe.IsTimeout(err) && t.ctx.Err() == nil {
		x, hangs = t.sendLate(x)
		err = x.Err
	}
	if silent := t.s.client.Silent(); silent > maxSilence*t.s.opts.Timeout {
		t.s.stop(fmt.Errorf("the target has not responded for %v", silent.Round(time.Second)))
	}
	t.record(x)
	t.s.recordCreated(x)
	return x, attempt(func() {
		switch {
		case err == nil && x.Status == http.StatusTooManyRequests:
			unavailable(x, "the target keeps responding 429 Too Many Requests")
		case err == nil:
		case t.ctx.Err() != nil:
			unavailable(x, "the run was stopped: %v", context.Cause(t.ctx))
		case hangs:
			fail(x, "no response within %v, and other requests get responses", t.s.opts.Timeout)
		case probe.IsTimeout(err):
			unavailable(x, "no response within %v", t.s.opts.Timeout)
		case probe.IsUnreachable(err) || !t.alive(r.Messages):
			unavailable(x, "the target cannot be reached any more: %v", err)
		default:
			fail(x, "%v, and other requests get responses", err)
		}
	})
}

// sendLate sends the request of x, which got no response in time, up to twice more, each
// time after an ordinary request that got one. It returns the exchange with the response,
// if there is one. hangs says that the target is at fault: this request got no response three times,
// and the ordinary request after each attempt got one soon.
func (t *tester) sendLate(x *probe.Exchange) (last *probe.Exchange, hangs bool) {
	t.s.mu.Lock()
	t.s.created.hangs++
	over := t.s.created.hangs > maxHangs
	t.s.mu.Unlock()
	last = x
	for range 2 {
		if over || !t.respondsSoon(x.Request) {
			return x, false
		}
		if last = t.s.client.SendAgain(t.ctx, last); last.Status != 0 {
			return last, false
		}
	}
	return last, t.respondsSoon(x.Request)
}

// respondsSoon reports whether an ordinary request for the operation of r gets a
// response in much less than the time limit. If not, the target or the network may be
// slow. The request is sent on a connection of its own, since each open connection may
// keep a thread of the target.
func (t *tester) respondsSoon(r probe.Request) bool {
	ordinary := probe.Get("/pets?limit=1")
	switch {
	case r.Messages:
		ordinary = probe.PostMessage(messageBody(t.name()))
	case r.Method == http.MethodPost:
		ordinary = probe.Post("/pets", newPet{t.name(), t.arbitraryCategory(), "available"}.json())
	}
	ordinary.Fresh = true
	x := t.s.client.Send(t.ctx, ordinary)
	t.s.recordCreated(x)
	return x.Status != 0 && !x.Unavailable() && x.Received.Sub(x.Sent) < t.s.opts.Timeout/4
}

// record adds exchanges to those of the check, each once.
func (t *tester) record(xs ...*probe.Exchange) {
	for _, x := range xs {
		if x != nil && !slices.Contains(t.exchanges, x) {
			t.exchanges = append(t.exchanges, x)
		}
	}
}

// alive reports whether the target serves a simple request, for pets or for
// messages: another server may have those.
func (t *tester) alive(messages bool) bool {
	r := probe.Get("/pets?limit=1")
	if messages {
		r = probe.PostMessage(`{}`)
	}
	x := t.s.client.Send(t.ctx, r)
	switch x.Status {
	case 0, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return false
	}
	return true
}

func (t *tester) get(path string) *probe.Exchange { return t.do(probe.Get(path)) }

// wantStatus ends the check if x has another status. The reason says why.
func (t *tester) wantStatus(x *probe.Exchange, status int, reason string, args ...any) {
	if x.Status != status {
		t.wrongStatus(x, fmt.Sprint(status), reason, args...)
	}
}

// wrongStatus ends the check because of the status of x. A target that cannot
// serve requests now is unavailable, unless only this request has that status.
func (t *tester) wrongStatus(x *probe.Exchange, want, reason string, args ...any) {
	switch x.Status {
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		if strings.HasPrefix(want, "2") || !t.alive(x.Request.Messages) {
			unavailable(x, "the target responds %s and does not serve the request", x.StatusLine())
		}
	}
	if x.Attempts > 1 && x.Request.Method == http.MethodPost && x.Refused() && x.Status != http.StatusUnauthorized {
		inconclusive("the request gets %s: an earlier attempt, whose response was lost, may have succeeded", x.StatusLine())
	}
	failStatus(x, fmt.Sprintf(reason, args...), want)
}

// name returns a name that no other pet has, of this run or of any other.
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
	ending    *ending
	exchanges []*probe.Exchange
}

// share returns the result of f, which it calls for the first check that asks
// for key. The others get the same exchanges and result, or end in the same way.
func share[T any](t *tester, key string, f func(*tester) T) T {
	t.s.mu.Lock()
	r := t.s.shared[key]
	if r == nil {
		r = new(sharedResult)
		t.s.shared[key] = r
	}
	t.s.mu.Unlock()
	r.once.Do(func() {
		sub := &tester{ctx: t.ctx, s: t.s, check: key}
		r.ending = attempt(func() { r.value = f(sub) })
		r.exchanges = sub.exchanges
	})
	t.record(r.exchanges...)
	r.ending.end()
	return r.value.(T)
}

// parallel calls f n times, at most limit at a time, each with a tester of its
// own. It ends the check with the first call that did, in the order of i.
func (t *tester) parallel(n, limit int, f func(t *tester, i int)) {
	subs := make([]*tester, n)
	endings := make([]*ending, n)
	concurrently(n, limit, func(i int) {
		subs[i] = &tester{ctx: t.ctx, s: t.s, check: fmt.Sprintf("%s-%d", t.check, i+1)}
		endings[i] = attempt(func() { f(subs[i], i) })
	})
	for _, sub := range subs {
		t.record(sub.exchanges...)
	}
	for _, e := range endings {
		e.end()
	}
}

// concurrently calls f for each i below n, at most limit at a time.
func concurrently(n, limit int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, limit)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}
