package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// run is a run against one target. Its methods send requests and judge the responses. It keeps
// what later requests and checks need.
type run struct {
	target   Target
	opts     Options
	selected map[string]bool   // the IDs of the checks that are judged
	redact   *strings.Replacer // of the key
	http     http.Client
	ctx      context.Context
	stop     context.CancelCauseFunc // ends the run, which then says why the target is not judged

	mark       string   // in nearly every name and text of the run
	names      int      // how many the run has made
	category   int64    // that the target accepts
	noMessages bool     // there is no POST /messages, or it must not be used
	removed    bool     // GET /pets/{petId} was removed as scheduled
	lost       int      // how many requests got no response
	atEnd      []func() // judge what only the whole run shows

	tallies  map[string]*tally
	requests int
	messages []message
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
		target: target, opts: o, selected: selected, redact: newRedactor(target.Key), mark: "Conf", category: anyCategory(),
		noMessages: target.PetsOnly || o.ReadOnly, tallies: newTallies(), store: newStore(),
	}
	for range 6 { // only letters, as some targets want names to have
		r.mark += string(rune('a' + rand.IntN(26)))
	}
	if o.Category != nil {
		r.category = *o.Category
	}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	r.http.Transport = o.Transport
	if o.Transport == nil {
		r.http.Transport = newTransport(o.Timeout)
	}
	r.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r, nil
}

// anyCategory returns a category that a target with a list of them can hardly know.
func anyCategory() int64 { return 100_000_000 + rand.Int64N(900_000_000) }

// name returns a name that no other pet or message has, of this run or of any other.
func (r *run) name() string {
	r.names++
	return r.mark + string([]byte{'a' + byte(r.names/26/26), 'a' + byte(r.names/26%26), 'a' + byte(r.names%26)})
}

// tally is what a check has found so far.
type tally struct {
	judged     int // exchanges
	violations []violation
}

// violation is an exchange that violates a check.
type violation struct {
	x *exchange
	finding
}

// finding says what is wrong with an exchange. The zero finding: nothing.
type finding struct {
	text   string
	before *exchange // that shows it, too, such as the one that added the pet; nil: none does
}

func newTallies() map[string]*tally {
	tallies := make(map[string]*tally)
	for _, c := range Checks() {
		tallies[c.ID] = new(tally)
	}
	return tallies
}

// wrong returns the finding that something is wrong.
func wrong(format string, args ...any) finding { return finding{text: fmt.Sprintf(format, args...)} }

// unless returns the finding that something is wrong, unless it is ok.
func unless(ok bool, format string, args ...any) finding {
	if ok {
		return finding{}
	}
	return wrong(format, args...)
}

// after returns f with an earlier exchange that shows it, too.
func (f finding) after(before *exchange) finding { return finding{f.text, before} }

// check says that x must be ok by the check with that ID. If it is not, the format says what is
// wrong with it. What was not served, or cannot be read, is not judged.
func (r *run) check(id string, x *exchange, ok bool, format string, args ...any) {
	r.judge(id, x, unless(ok, format, args...))
}

// judge is check with a finding.
func (r *run) judge(id string, x *exchange, f finding) {
	if x.judgeable() {
		r.record(id, x, f)
	}
}

// record is judge, also if x was not served.
func (r *run) record(id string, x *exchange, f finding) {
	if x.try == 0 {
		return // it was not sent
	}
	t := r.tallies[id]
	t.judged++
	if f.text != "" {
		t.violations = append(t.violations, violation{x, f})
	}
}

// accept says that x, the response to a valid request, must have the status want (0: any 2xx),
// unless it refuses the request as it may. The exchange before, if any, may explain a failure.
func (r *run) accept(id string, before, x *exchange, want int, what string) {
	shown := "2xx"
	if want > 0 {
		shown = statusLine(want)
	}
	if x.request.what != "" {
		what += " (it has " + x.request.what + ")"
	}
	ok := x.status == want || want == 0 && x.succeeded() || x.mayRefuse()
	r.judge(id, x, unless(ok, "%s: the response is %s, want %s", what, x.statusLine(), shown).after(before))
}

// mayRefuse reports whether x refuses a valid request as the contract allows. The target
// may have acted on a POST that was sent before and got no response, and take this one for
// a duplicate.
func (x *exchange) mayRefuse() bool {
	q := x.request
	return q.allow == anything || x.refused() && (q.allow == or4xx || x.tooLarge() || q.allow == or400 && x.status == 400 ||
		q.method == http.MethodPost && x.try > 1)
}

// tooLarge reports whether x refuses a body of 1 KiB or more with 413.
func (x *exchange) tooLarge() bool { return x.status == 413 && len(x.request.body) >= 1<<10 }

// listPatience is how long a list may lack a new pet.
const listPatience = 2 * time.Second

// wait lets the time pass that a list may lack a new pet.
func (r *run) wait() { r.sleep(listPatience + 100*time.Millisecond) }
