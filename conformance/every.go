package conformance

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// rule is what a check wants of every exchange of the run to which the rule applies.
// It does not matter which check sent the request, or whether it was sent again after
// a 503. Rules are judged when every check has run.
type rule struct {
	what    string // names what it applies to, in the plural, for messages
	applies func(*evidence) bool
	want    func(*evidence) // ends the check if the exchange violates the rule

	// mayBeIdle says that the check passes if the rule applies to no exchange:
	// run has judged enough.
	mayBeIdle bool
}

// judge ends the check if an exchange violates the rule. The first such exchange is
// the proof. An exchange for which the rule is inconclusive does not count. If no
// exchange counts, the check is inconclusive, unless it may be idle.
func (r *rule) judge(h *history) {
	var first *ending
	seen, wrong := 0, 0
	for _, x := range h.all {
		if !r.applies(x) {
			continue
		}
		switch e := attempt(func() { r.want(x) }); {
		case e == nil:
			seen++
		case e.verdict == Fail:
			seen++
			wrong++
			first = cmp.Or(first, e)
		}
	}
	switch {
	case seen == 0 && !r.mayBeIdle:
		inconclusive("the run has no %s", r.what)
	case wrong > 0 && wrong < seen:
		line := firstLine(first.message)
		first = first.with("%s (%d of %d %s)%s", line, wrong, seen, r.what, first.message[len(line):])
	}
	first.end()
}

// violated returns the ID of a check whose rule one of xs violates, or "".
func (h *history) violated(xs []*probe.Exchange) string {
	for _, x := range h.all {
		if !slices.Contains(xs, x.Exchange) {
			continue
		}
		for _, c := range h.s.checks {
			if c.every == nil || !c.every.applies(x) {
				continue
			}
			if e := attempt(func() { c.every.want(x) }); e != nil && e.verdict == Fail {
				return c.ID
			}
		}
	}
	return ""
}

// What the contract demands of the response to a request. Rules use these functions
// to select the exchanges to which they apply.

// usual reports whether the request of x has the valid key, accepts JSON and is not
// chunked: only an RFC says that a server understands a chunked body.
func (x *evidence) usual() bool {
	accept := x.Request.Value("Accept")
	accepts := accept == "" || strings.Contains(accept, "application/json") || strings.Contains(accept, "*/*")
	return accepts && x.Request.Credential.Shown == probe.ValidKey().Shown && !x.Request.Chunked
}

// mustSucceed reports whether the request of x is valid and the target has no
// reason to refuse it. A target may refuse some names, texts and categories, and a text
// that it already has. It may refuse a name that it already has with 400, as an invalid
// value: the contract has no other error for it.
func (x *evidence) mustSucceed() bool {
	switch {
	case !x.usual(), x.Status == http.StatusNotModified && x.Request.Value("If-None-Match") != "":
		return false
	case x.query != nil:
		return true
	case x.op == "GET /pets/{petId}":
		return x.added() != nil && !x.removed()
	case x.Request.ContentType != "application/json", (x.text != nil || x.Status == http.StatusBadRequest) && x.again():
		return false
	case x.sent != nil:
		since, ok := x.run.accepted[x.sent.Category]
		return x.run.ours.MatchString(x.sent.Name) && x.sent.json() == string(x.Request.Body) && ok && since.Before(x.Sent)
	case x.text != nil:
		return x.run.ours.MatchString(*x.text) && messageBody(*x.text) == string(x.Request.Body)
	}
	return false
}

// added returns the pet of the run whose id is in the path of x. Nil: there is none,
// or it was added only after x was sent.
func (x *evidence) added() *addedPet {
	if x.id == nil {
		return nil
	}
	p, ok := x.run.added[*x.id]
	if !ok || !p.x.Received.Before(x.Sent) {
		return nil
	}
	return &p
}

// removed reports whether x is about an operation that was removed as scheduled.
func (x *evidence) removed() bool { return x.op == "GET /pets/{petId}" && x.run.getRemoved }

// ofPets reports whether x is about an operation on pets.
func (x *evidence) ofPets() bool {
	return slices.Contains([]string{"GET /pets", "GET /pets/{petId}", "POST /pets"}, x.op)
}

func (x *evidence) isMessage() bool { return x.op == "POST /messages" }

// isList reports whether the body of x must be a list.
func (x *evidence) isList() bool { return x.op == "GET /pets" && x.Status == http.StatusOK }

func (x *evidence) hasElements() bool { return len(x.list.elements) > 0 }

// isPet reports whether the body of x must be a pet in the store.
func (x *evidence) isPet() bool { return x.op == "GET /pets/{petId}" && x.Status == http.StatusOK }

// isNewPet reports whether the body of x must be the pet that was added.
func (x *evidence) isNewPet() bool { return x.sent != nil && x.Succeeded() }

// isRecord reports whether the body of x must be the record of a message.
func (x *evidence) isRecord() bool { return x.text != nil && x.Succeeded() }

// serverFailed reports whether x has a status that no request may get.
func (x *evidence) serverFailed() bool {
	return x.Status >= 500 && !(x.Status == http.StatusNotImplemented && x.Request.Chunked)
}

// asks reports whether the request of x is valid, apart from its credential.
func (x *evidence) asks() bool {
	return x.query != nil || x.sent != nil || x.text != nil || x.added() != nil
}

// isValid reports whether the request of x is valid, its credential included.
func (x *evidence) isValid() bool { return x.usual() && x.asks() }

var (
	plainPath = regexp.MustCompile(`^/(messages|pets(/-?\d{1,40})?)(\?[A-Za-z0-9&=._,:+-]{0,1000})?$`)
	unescaped = regexp.MustCompile(`^[A-Za-z0-9/&?=._,:+-]*$`)
)

// isError reports whether the body of x must be an Error. It need not be one if a
// proxy in front of the target may have responded, because the URL or the method is
// unusual or the requests are too many, too large or too slow. A router may have
// responded if the id in the path is not an integer.
func (x *evidence) isError() bool {
	tooLarge := x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= 1<<20 // the limit of some proxies
	return x.isAnyError() && x.Status != http.StatusMethodNotAllowed && !tooLarge &&
		(x.ofPets() || x.isMessage()) && plainPath.MatchString(x.Request.Path)
}

// isOtherError reports whether x is an error that must have an Error body only if the
// contract is read strictly.
func (x *evidence) isOtherError() bool {
	return x.isAnyError() && !x.isError() && x.Request.Method != http.MethodHead && unescaped.MatchString(x.Request.Path)
}

// isAnyError reports whether x is an error other than those that HTTP servers send by
// themselves.
func (x *evidence) isAnyError() bool {
	switch x.Status {
	case http.StatusRequestTimeout, http.StatusRequestURITooLong, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge:
		return false
	}
	return x.Refused() && !x.removed() && (x.usual() || x.Status == http.StatusUnauthorized && !x.Request.Chunked)
}

// wantSuccess ends the check if the request of x must succeed and x has another
// status, or if the target failed.
func (x *evidence) wantSuccess(reason, want string) {
	succeeded := want == "2xx" && x.Succeeded() || want == strconv.Itoa(x.Status)
	if x.mustSucceed() && !succeeded || x.serverFailed() {
		failStatus(x.Exchange, reason, want)
	}
}

func (x *evidence) wantJSON() { wantJSON(x.Exchange) }
func (x *evidence) wantPet()  { readPet(x.Exchange) }

func (x *evidence) wantList() {
	if !x.list.ok {
		readList(x.Exchange)
	}
}
