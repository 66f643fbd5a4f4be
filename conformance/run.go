package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/wire"
)

// run is a run against one target. Its methods send requests and judge the responses. It keeps
// what later requests and checks need.
type run struct {
	target   Target
	opts     Options
	selected map[string]bool // the IDs of the checks that are judged
	client   *wire.Client
	ctx      context.Context
	stop     context.CancelCauseFunc // ends the run, which then says why the target is not judged

	mark       string   // in nearly every name and text of the run
	names      int      // how many the run has made
	category   int64    // that the target accepts
	noMessages bool     // there is no POST /messages, or it must not be used
	removed    bool     // GET /pets/{petId} was removed as scheduled
	unserved   []string // the requests that were not served while others were, however often they were sent
	queued     []step   // what the next play sends
	atEnd      []func() // judge what only the whole run shows

	tallies   map[string]*tally
	exchanges []*exchange
	messages  []message
	submitted int // how many messages the target has accepted
	store
}

// newRun returns an error if the arguments are not valid.
func newRun(ctx context.Context, target Target, opts *Options) (*run, error) {
	target, err := target.clean()
	if err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	selected, err := o.selected()
	if err != nil {
		return nil, err
	}
	r := &run{
		target: target, opts: o, selected: selected, mark: "Conf", category: anyCategory(),
		client:     wire.NewClient(target.Key, secrets(target.Key), o.Timeout, o.Transport),
		noMessages: target.PetsOnly || o.ReadOnly, tallies: newTallies(), store: newStore(),
	}
	for range 6 { // only letters, as some targets want names to have
		r.mark += string(rune('a' + rand.IntN(26)))
	}
	if o.Category != nil {
		r.category = *o.Category
	}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	return r, nil
}

// anyCategory returns a category that a target with a list of them can hardly know.
func anyCategory() int64 { return 100_000_000 + rand.Int64N(900_000_000) }

// name returns a name that no other pet or message has, of this run or of any other.
func (r *run) name() string {
	r.names++
	return r.mark + string([]byte{'a' + byte(r.names/26/26), 'a' + byte(r.names/26%26), 'a' + byte(r.names%26)})
}

// step is a request and what judges the response. Methods such as creating and fetching return a step,
// and play sends it.
type step struct {
	q     request
	judge func(*exchange)
}

// queue adds steps to those that the next play sends.
func (r *run) queue(steps ...step) { r.queued = append(r.queued, steps...) }

// play sends the requests of these steps and of the queued ones, several at a time. Then it judges the
// responses, one after the other, so that no judge needs a lock. What the judges queue is sent with the
// next play. It returns the exchange of the last of these steps, if there is one.
func (r *run) play(steps ...step) (last *exchange) {
	n := len(steps)
	steps, r.queued = append(steps, r.queued...), nil
	xs := make([]*exchange, len(steps))
	slots := make(chan struct{}, r.opts.Parallel)
	var wg sync.WaitGroup
	for i, s := range steps {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			xs[i] = r.try(s.q)
		})
	}
	wg.Wait()
	for i, x := range xs {
		xs[i] = r.tryAgain(x)
		r.mustServe(xs[i])
	}
	for i, s := range steps {
		s.judge(xs[i])
	}
	if n > 0 {
		last = xs[n-1]
	}
	return last
}

// playAll plays until nothing is queued.
func (r *run) playAll() {
	for len(r.queued) > 0 {
		r.play()
	}
}

// send sends q. Its response is judged only by what holds for every one.
func (r *run) send(q request) *exchange { return r.play(step{q, func(*exchange) {}}) }

// try sends q once. If q must not be sent, because the run has ended or only reads, or there is no
// such operation, it returns an exchange that no check judges.
func (r *run) try(q request) *exchange {
	if r.ctx.Err() != nil || r.opts.ReadOnly && q.Method != http.MethodGet || r.noMessages && q.forMessages() ||
		r.removed && q.op() == opGet {
		return &exchange{Exchange: new(wire.Exchange), request: q}
	}
	q.URL = r.target.URL + q.path
	if q.forMessages() {
		q.URL = r.target.MessagesURL + q.path
	}
	x := &exchange{Exchange: r.client.Send(r.ctx, q.Request), request: q, tries: 1}
	if x.Status == 0 {
		x.lost = 1
	}
	return x
}

// maxPause is the longest time for which a Retry-After is respected.
const maxPause = 30 * time.Second

// tryAgain records x and sends its request up to two times more, if it was not served. Then it is the
// only request under way and has a new connection, since the target may have a limit for requests or
// connections.
func (r *run) tryAgain(x *exchange) *exchange {
	r.receive(x)
	for _, pause := range []time.Duration{100 * time.Millisecond, 2 * time.Second} {
		seconds, _ := strconv.Atoi(x.Header.Get("Retry-After"))
		pause = max(pause, time.Duration(min(seconds, 1000))*time.Second)
		if !r.failed(x) || pause > maxPause {
			break
		}
		r.client.Disconnect() // before the pause, so that the target has seen it
		r.sleep(pause - time.Since(x.Received))
		y := r.try(x.request)
		if y.tries == 0 {
			return y
		}
		y.tries, y.lost, y.uncertain = y.tries+x.tries, y.lost+x.lost, x.uncertain || x.Status != http.StatusTooManyRequests
		x = y
		r.receive(x)
	}
	return x
}

// failed reports whether the target should have served x and did not.
func (r *run) failed(x *exchange) bool {
	return x.tries > 0 && !x.served() && !x.request.mayBeLost() && r.ctx.Err() == nil
}

// mustServe ends the run if x was not served, even when it was tried again, and no other request is. If
// others are, the run goes on: it is a violation if each try got no response. Each such request takes
// long, so the fourth ends the run.
func (r *run) mustServe(x *exchange) {
	if !r.failed(x) {
		return
	}
	what := fmt.Sprintf("%s, sent %s: %s", x.request.line(), plural(x.tries, "time"), x.StatusLine())
	if x.Unreachable() || !r.try(get("/pets?limit=1")).served() {
		r.stop(fmt.Errorf("the target stopped serving requests at or before %s (-parallel 1 finds out where)\n%s", what, x.Curl()))
		return
	}
	if x.lost == x.tries {
		r.record("http.response", x, wrong("the request got no response, while others did: %s", what))
	}
	if r.unserved = append(r.unserved, what); len(r.unserved) == 4 {
		r.stop(errors.New(r.notServed()))
	}
}

// notServed says which requests were not served while others were.
func (r *run) notServed() string {
	return "while others were served, these requests were not: " + strings.Join(r.unserved, "; ")
}

func (r *run) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}

// listPatience is how long a list may lack a new pet.
const listPatience = 2 * time.Second

// wait lets the time pass that a list may lack a new pet.
func (r *run) wait() { r.sleep(listPatience + 100*time.Millisecond) }
