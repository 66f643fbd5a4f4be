package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// evidence is an exchange of a run that is over, with what the rules need to know.
type evidence struct {
	*probe.Exchange
	run *history

	op    string     // as [probe.Request.Operation]
	query *listQuery // of GET /pets; nil: another operation, or the contract does not say what the query means
	list  listing    // the body of a 200 for GET /pets
	id    *int64     // in the path of GET /pets/{petId}; nil: none
	sent  *newPet    // the valid pet in the request; nil: none
	text  *string    // the valid message in the request; nil: none

	name string // of the pet in sent, or text; "": none

	// twin is the first response to the same operation with the same id, if that is an
	// earlier one. Nil: there is none.
	twin *evidence
}

// history is what is known when a run is over.
type history struct {
	s   *session
	all []*evidence // the exchanges that rules apply to

	named      map[string][]*evidence // the valid pets and messages, by name or text
	ids        map[string]*evidence   // the first response that assigns an id, by operation and id
	added      map[int64]addedPet     // the pets of the run, by id
	asked      map[string]asked       // the requests for pets, by name, if ours matches it
	shown      map[string][]int64     // the ids of the pets with a name in all lists
	accepted   map[int64]time.Time    // when each category was first accepted
	served     map[bool]time.Time     // when the last request was sent that the target served, for pets and (true) for messages
	getRemoved bool                   // GET /pets/{petId} was removed as scheduled
	ours       *regexp.Regexp         // matches a name or text that only has letters, digits and the run's mark
}

// asked is what requests for pets with a name may have added.
type asked struct {
	pets    int             // how many at most
	refused *probe.Exchange // a request that was refused; nil: none
}

// newHistory returns what is known of the run.
func (s *session) newHistory() *history {
	h := &history{
		s:          s,
		named:      make(map[string][]*evidence),
		ids:        make(map[string]*evidence),
		added:      make(map[int64]addedPet),
		asked:      make(map[string]asked),
		shown:      make(map[string][]int64),
		accepted:   make(map[int64]time.Time),
		served:     make(map[bool]time.Time),
		getRemoved: !s.opts.Now().Before(removalBegins),
		ours:       regexp.MustCompile(`^` + s.mark + `[A-Za-z0-9.-]{0,44}$`),
	}
	for _, p := range s.addedPets() {
		if !p.valid {
			continue
		}
		h.added[p.ID] = p
		if _, ok := h.accepted[p.Category]; !ok {
			h.accepted[p.Category] = p.x.Received
		}
	}
	for _, x := range s.client.Exchanges() {
		e := h.read(x)
		h.learn(e)
		h.all = append(h.all, e)
	}
	h.all = slices.DeleteFunc(h.all, func(e *evidence) bool { return !e.counts() })
	return h
}

// read returns what x says by itself.
func (h *history) read(x *probe.Exchange) *evidence {
	e := &evidence{Exchange: x, run: h, op: x.Request.Operation()}
	switch e.op {
	case "GET /pets":
		e.query = parseQuery(x.Request.Path)
		if x.Status == http.StatusOK {
			e.list = h.s.listingOf(x)
		}
	case "GET /pets/{petId}":
		e.id = parseID(x.Request.Path)
	case "POST /pets":
		if e.sent = validPet(x.Request.Body); e.sent != nil {
			e.name = e.sent.Name
		}
	case "POST /messages":
		if e.text = validText(x.Request); e.text != nil {
			e.name = *e.text
		}
	}
	return e
}

// learn adds x to the history, and finds its twin in the history so far.
func (h *history) learn(x *evidence) {
	switch x.op {
	case "GET /pets":
		h.show(x.list.pets)
	case "GET /pets/{petId}":
		h.getRemoved = h.getRemoved && x.Status != http.StatusOK
	case "POST /pets":
		h.ask(x)
	}
	if x.name != "" {
		h.named[x.name] = append(h.named[x.name], x)
	}
	if o, _ := x.Object(); o["id"] != nil && x.Request.Method == http.MethodPost && x.Succeeded() {
		key := x.op + string(o["id"])
		x.twin = h.ids[key]
		h.ids[key] = cmp.Or(x.twin, x)
	}
	if x.Served() && x.Sent.After(h.served[x.Request.Messages]) {
		h.served[x.Request.Messages] = x.Sent
	}
}

// counts reports whether rules apply to x: it says something about the target, and was
// not sent before the session began.
func (x *evidence) counts() bool {
	switch x.Status {
	case http.StatusBadGateway, http.StatusGatewayTimeout: // a gateway whose server has gone away says nothing
		if x.run.served[x.Request.Messages].Before(x.Sent) {
			return false
		}
	default:
		if !x.Served() {
			return false
		}
	}
	return !x.Sent.Before(x.run.s.began) && !x.Unreadable()
}

// again reports whether another request with the same name or text was sent before x,
// or while x was under way. A target may refuse a name or text that it already has.
func (x *evidence) again() bool {
	return slices.ContainsFunc(x.run.named[x.name], func(o *evidence) bool { return o != x && o.Sent.Before(x.Received) })
}

// ask records what the request of x may have added.
func (h *history) ask(x *evidence) {
	name := x.name
	if x.sent == nil {
		name = sentPet(x.Exchange).Name
	}
	// A target may find another name in a wrong body.
	for _, name := range slices.Compact([]string{name, x.Request.Pet}) {
		if !h.ours.MatchString(name) { // others may send it too
			continue
		}
		a := h.asked[name]
		switch x.Status {
		case 400, 401, 403, 413, 415, 422:
			a.refused = x.Exchange
		default:
			a.pets++
		}
		h.asked[name] = a
	}
}

// show records the pets of a list.
func (h *history) show(pets []pet) {
	for _, p := range pets {
		if !slices.Contains(h.shown[p.Name], p.ID) {
			h.shown[p.Name] = append(h.shown[p.Name], p.ID)
		}
	}
}

// eachAsked calls want for each pet of the run in x, a list, if it is known which
// requests may have added it.
func (x *evidence) eachAsked(want func(p pet, a asked)) {
	for _, p := range x.list.pets {
		if a, ok := x.run.asked[p.Name]; ok {
			want(p, a)
		}
	}
}

// wantAsked ends the check if lists have more pets with the name of one in x, a list,
// than requests may have added.
func (x *evidence) wantAsked() {
	x.eachAsked(func(p pet, a asked) {
		if shown := x.run.shown[p.Name]; a.pets > 0 && len(shown) > a.pets {
			fail(x.Exchange, "lists have %d pets with a name that %s had, with the ids %s%s", len(shown),
				probe.Plural(a.pets, "request"), strings.Trim(fmt.Sprint(shown), "[]"), x.list.show(p.ID))
		}
	})
}

// parseID returns the id in a path such as /pets/7, or nil if it is not written so.
func parseID(path string) *int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(path, "/pets/"), 10, 64)
	if err != nil || petPath(id) != path {
		return nil
	}
	return &id
}

// validText returns the message in the body of r, or nil if the contract does not
// say that it is one.
func validText(r probe.Request) *string {
	o, err := probe.ParseObject(r.Body)
	text, noText := o.Str("message")
	if cmp.Or(err, noText) != nil || r.ContentType == "" || !jsontext.Value(r.Body).IsValid() {
		return nil
	}
	return &text
}
