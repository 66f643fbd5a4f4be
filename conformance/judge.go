package conformance

import (
	"fmt"
	"net/http"

	"example.com/animalstore/conformance/internal/wire"
)

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
	text   string    // its first line is the headline
	before *exchange // that it depends on, such as the one that added the pet; nil: none
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

// after returns f with an earlier exchange that it depends on.
func (f finding) after(before *exchange) finding { return finding{f.text, before} }

// check says that x must be ok by the check with that ID. If it is not, the format says what is
// wrong with it. What is not judgeable is not judged.
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
	if x.tries == 0 {
		return
	}
	t := r.tallies[id]
	t.judged++
	if f.text != "" {
		t.violations = append(t.violations, violation{x, f})
	}
}

// first returns the finding about the first pet of a list with which something is wrong.
func (r *run) first(l wire.List, judge func(wire.Pet) finding) finding {
	for i, p := range l.Pets {
		if f := judge(p); f.text != "" {
			// A report may cut the list off before the pet.
			return wrong("%s\nin the list: %s", f.text, wire.Cut(string(l.Raw[i]), 200)).after(r.added[p.ID].creation())
		}
	}
	return finding{}
}

// accept says that x, the response to a valid request, must have the status want (0: any 2xx),
// unless it refuses the request as it may. The exchange before, if any, may explain a failure.
func (r *run) accept(id string, before, x *exchange, want int, what string) {
	shown := "2xx"
	if want > 0 {
		shown = fmt.Sprintf("%d %s", want, http.StatusText(want))
	}
	switch q := x.request; {
	case q.allow == or400:
		shown += ", or 400 for the name"
	case q.allow == or4xx && q.what != "":
		shown += ", or a 4xx"
	}
	ok := x.Status == want || want == 0 && x.Succeeded() || x.mayRefuse()
	r.judge(id, x, unless(ok, "%s: the response is %s, want %s", what, x.StatusLine(), shown).after(before))
}

// mayRefuse reports whether x refuses a valid request as the contract allows.
func (x *exchange) mayRefuse() bool {
	q := x.request
	return q.allow == anything || x.refused() && (q.allow == or4xx || x.tooLarge() || q.allow == or400 && x.Status == 400)
}

// tooLarge reports whether x refuses a body of 1 KiB or more with 413.
func (x *exchange) tooLarge() bool { return x.Status == 413 && len(x.request.Body) >= 1<<10 }
