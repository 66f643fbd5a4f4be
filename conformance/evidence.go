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

	// again says that another request with the same name or text was sent before x, or
	// while x was under way. A target may refuse a name or text that it already has.
	again bool

	// twin is an earlier response to the same operation with the same id. Nil: none.
	twin *evidence
}

// history is what is known when a run is over.
type history struct {
	s   *session
	all []*evidence // without those that say nothing, as with 503

	added      map[int64]addedPet  // the pets of the run, by id
	asked      map[string]int      // how many pets with a name the requests that were not refused may have added
	shown      map[string][]int64  // the ids of the pets with a name in all lists
	accepted   map[int64]time.Time // when each category was first accepted
	served     map[bool]time.Time  // when the last request was sent that the target served, for pets and (true) for messages
	getRemoved bool                // GET /pets/{petId} was removed as scheduled
	ours       *regexp.Regexp      // matches a name or text that only has letters, digits and the run's mark
}

// listQuery is a query of GET /pets whose meaning the contract states.
type listQuery struct {
	status string // "": absent
	limit  int    // 0: absent
}

// newHistory returns what is known of the run.
func (s *session) newHistory() *history {
	h := &history{
		s:          s,
		added:      make(map[int64]addedPet),
		asked:      make(map[string]int),
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
	named, ids := make(map[string][]*evidence), make(map[string]*evidence)
	for _, x := range s.client.Exchanges() {
		e := &evidence{Exchange: x, run: h, op: x.Request.Operation()}
		var name string
		switch e.op {
		case "GET /pets":
			e.query = parseQuery(x.Request.Path)
			if x.Status == http.StatusOK {
				e.list = s.listingOf(x)
				h.show(e.list.pets)
			}
		case "GET /pets/{petId}":
			e.id = parseID(x.Request.Path)
			h.getRemoved = h.getRemoved && x.Status != http.StatusOK
		case "POST /pets":
			h.ask(x)
			if e.sent = validPet(x.Request.Body); e.sent != nil {
				name = e.sent.Name
			}
		case "POST /messages":
			if e.text = validText(x.Request); e.text != nil {
				name = *e.text
			}
		}
		for _, other := range named[name] {
			e.again = e.again || other.Sent.Before(e.Received)
			other.again = other.again || e.Sent.Before(other.Received)
		}
		if name != "" {
			named[name] = append(named[name], e)
		}
		if o, ok := guess(x, probe.ParseObject); ok && x.Request.Method == http.MethodPost && x.Succeeded() {
			if id := o["id"]; id != nil {
				e.twin = ids[e.op+string(id)]
				ids[e.op+string(id)] = cmp.Or(e.twin, e)
			}
		}
		switch x.Status {
		case 0, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
			continue // these say only that the target does not serve the request now
		case http.StatusBadGateway, http.StatusGatewayTimeout:
		default:
			if x.Sent.After(h.served[x.Request.Messages]) {
				h.served[x.Request.Messages] = x.Sent
			}
		}
		if !x.Sent.Before(s.began) && !x.Unreadable() {
			h.all = append(h.all, e)
		}
	}
	// A gateway whose server has gone away says nothing either.
	h.all = slices.DeleteFunc(h.all, func(e *evidence) bool {
		return (e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout) && h.served[e.Request.Messages].Before(e.Sent)
	})
	return h
}

// ask counts the pet that the request of x may have added.
func (h *history) ask(x *probe.Exchange) {
	name := sentPet(x).Name
	switch x.Status {
	case 400, 401, 403, 413, 415, 422:
		h.asked[name] += 0 // the name is known now
	default:
		h.asked[name]++
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

// wantAsked ends the check if x, a list, has a pet of the run that no request can
// have added.
func (x *evidence) wantAsked() {
	for _, p := range x.list.pets {
		asked, known := x.run.asked[p.Name]
		shown := x.run.shown[p.Name]
		if !known || len(shown) <= asked || !x.run.ours.MatchString(p.Name) {
			continue
		}
		if asked == 0 {
			fail(x.Exchange, "the list has a pet whose request was refused%s", x.list.show(p.ID))
		}
		fail(x.Exchange, "lists have %d pets with a name that %s had, with the ids %s%s", len(shown),
			probe.Plural(asked, "request"), strings.Trim(fmt.Sprint(shown), "[]"), x.list.show(p.ID))
	}
}

// parseQuery returns the query of a request for a list, or nil if the contract does
// not say what it means.
func parseQuery(path string) *listQuery {
	q := new(listQuery)
	_, query, _ := strings.Cut(path, "?")
	if query == "" {
		return q
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		limit, err := strconv.Atoi(value)
		switch {
		case name == "limit" && err == nil && strconv.Itoa(limit) == value && limit >= 1 && limit <= 100 && q.limit == 0:
			q.limit = limit
		case name == "status" && slices.Contains(statuses(), value) && q.status == "":
			q.status = value
		default:
			return nil
		}
	}
	return q
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
