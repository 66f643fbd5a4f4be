package conformance

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// The operations of the contract.
const (
	opList   = "GET /pets"
	opCreate = "POST /pets"
	opGet    = "GET /pets/{petId}"
	opSubmit = "POST /messages"
)

// exchange is an exchange of a run, with what judges need to know of it.
type exchange struct {
	*probe.Exchange
	run *history
	op  string

	query *listQuery // of GET /pets; nil: another operation, or the contract does not say what the query means
	list  list       // the body of a 200 for GET /pets
	id    *int64     // in the path of GET /pets/{petId}; nil: none
	sent  *newPet    // the pet that a POST /pets asks for; nil: none
	text  *string    // that a POST /messages submits; nil: none
	exact bool       // the target has no reason to refuse the form of the body
	wrong *fault     // what is wrong with the body of a POST; nil: nothing
	names []string   // the names of the run in the body of a POST /pets

	unreadable bool // see [probe.Exchange.Unreadable]

	pet    pet // in a successful response to POST /pets or GET /pets/{petId}
	petErr petError

	// twin is the first response to the same operation with the same id, if that is an
	// earlier one. Nil: there is none.
	twin *exchange
}

// markStart is how the mark of every run starts.
const markStart = "Conf"

// facts are what a history needs to know beside the exchanges.
type facts struct {
	mark string // in nearly every name and text of the run
	url  string // of the target
	now  time.Time
}

// history is what is known of a run. Judges read it and do not change it.
type history struct {
	facts
	all      []*exchange // those that say something about the target, in the order of Sent
	unserved []*exchange // requests that got no response or were not served, whatever was tried
	repeated []*exchange // attempts that were not served, or whose response was cut short

	ids     map[string]*exchange      // the first response that assigns an id, by operation and id
	added   map[int64]*exchange       // the creation of each pet with a valid request, by id
	known   map[int64]time.Time       // since when each pet of the run is known, by id
	listed  map[int64]time.Time       // since when a list has shown it
	named   map[string][]*exchange    // the valid pets and messages, by operation and name or text
	asked   map[string]asked          // the requests for pets, by names of the run
	shown   map[string]map[int64]bool // the ids of the pets with a name in all lists
	lists   map[listQuery][]*exchange // by query
	start   map[listQuery][]pet       // the pets that each list had before the run added any
	longest int                       // how many pets the longest list has
	accepts map[string]time.Time      // since when the target accepts a kind of value: see refusable.go
	served  map[bool]time.Time        // when the last request was sent that the target served, for pets and (true) for messages
	removed bool                      // GET /pets/{petId} was removed as scheduled
	ours    *regexp.Regexp            // matches the mark and what follows it in a name of the run
	parsed  map[*probe.Exchange]*exchange
	elements
}

// asked is what requests for pets with a name may have added.
type asked struct {
	pets    int       // how many at most
	refused *exchange // a request that was refused; nil: none
}

// newHistory returns what is known after the exchanges.
func newHistory(f facts, exchanges []*probe.Exchange) *history {
	h := &history{facts: f, ours: regexp.MustCompile(regexp.QuoteMeta(f.mark) + `[a-z]{3}`), elements: make(elements)}
	h.learn(exchanges)
	return h
}

// learn makes h what is known after the exchanges, of which it may know some already.
func (h *history) learn(exchanges []*probe.Exchange) {
	h.all, h.unserved, h.repeated = nil, nil, nil
	h.ids, h.added, h.known = make(map[string]*exchange), make(map[int64]*exchange), make(map[int64]time.Time)
	h.listed = make(map[int64]time.Time)
	h.named, h.asked, h.shown = make(map[string][]*exchange), make(map[string]asked), make(map[string]map[int64]bool)
	h.lists, h.start = make(map[listQuery][]*exchange), make(map[listQuery][]pet)
	h.accepts, h.served = make(map[string]time.Time), make(map[bool]time.Time)
	h.longest, h.removed = 0, !h.now.Before(removalBegins)

	exchanges = slices.Clone(exchanges)
	slices.SortStableFunc(exchanges, func(a, b *probe.Exchange) int { return a.Sent.Compare(b.Sent) })
	if h.parsed == nil {
		h.parsed = make(map[*probe.Exchange]*exchange)
	}
	var all []*exchange
	for _, p := range exchanges {
		x := h.parsed[p]
		if x == nil {
			x = h.read(p)
			h.parsed[p] = x
		}
		all = append(all, x)
		if x.Served() {
			h.served[x.Request.Messages] = x.Sent
		}
	}
	for _, x := range all {
		switch {
		case x.Cut, x.Repeated && !x.Served():
			h.repeated = append(h.repeated, x)
		case !x.speaks():
			h.unserved = append(h.unserved, x)
		case !x.unreadable:
			h.all = append(h.all, x)
		}
		h.note(x)
	}
}

// read returns what p says by itself.
func (h *history) read(p *probe.Exchange) *exchange {
	x := &exchange{Exchange: p, run: h, op: p.Request.Operation(), unreadable: p.Unreadable()}
	switch x.op {
	case opList:
		x.query = parseQuery(p.Request.Path)
		if p.Status == http.StatusOK {
			x.list = h.readList(p)
		}
	case opGet:
		x.id = parseID(p.Request.Path)
	case opCreate:
		n, exact, wrong := readNewPet(p.Request.Body)
		if x.exact, x.wrong = exact, wrong; wrong == nil {
			x.sent = &n
		}
		for _, name := range h.ours.FindAll(p.Request.Body, -1) {
			x.names = append(x.names, string(name))
		}
	case opSubmit:
		text, exact, wrong := readMessage(p.Request)
		if x.exact, x.wrong = exact, wrong; wrong == nil {
			x.text = &text
		}
	}
	if (x.op == opGet || x.op == opCreate) && x.Succeeded() {
		x.pet, x.petErr = readPet(x.Object())
	}
	return x
}

// parseID returns the id in a path such as /pets/7, or nil if it is not written so.
func parseID(path string) *int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(path, "/pets/"), 10, 64)
	if err != nil || petPath(id) != path {
		return nil
	}
	return &id
}

// speaks reports whether x says something about the target. A 503 or 429 does not, nor
// does the 502 of a gateway that was sent once, or whose server is gone for good.
func (x *exchange) speaks() bool {
	if x.Status == http.StatusBadGateway || x.Status == http.StatusGatewayTimeout {
		return x.Attempts > 1 && x.run.served[x.Request.Messages].After(x.Sent)
	}
	return x.Served()
}

// note adds x to what is known.
func (h *history) note(x *exchange) {
	switch x.op {
	case opList:
		h.noteList(x)
	case opGet:
		h.removed = h.removed && x.Status != http.StatusOK
	case opCreate:
		h.ask(x)
		h.noteAdded(x)
	}
	if name := x.name(); name != "" && x.wrong == nil {
		h.named[x.op+name] = append(h.named[x.op+name], x)
	}
	if x.Request.Method != http.MethodPost || !x.Succeeded() {
		return
	}
	if o, _ := x.Object(); o["id"] != nil {
		key := x.op + string(o["id"])
		x.twin = h.ids[key]
		h.ids[key] = cmp.Or(x.twin, x)
	}
}

func (h *history) noteList(x *exchange) {
	h.longest = max(h.longest, len(x.list.elements))
	if x.query != nil && x.list.ok {
		h.lists[*x.query] = append(h.lists[*x.query], x)
		if _, ok := h.start[*x.query]; !ok && len(h.asked) == 0 {
			h.start[*x.query] = x.list.pets
		}
	}
	for _, p := range x.list.pets {
		name := h.ours.FindString(p.Name)
		if name == "" {
			continue
		}
		if h.shown[name] == nil {
			h.shown[name] = make(map[int64]bool)
		}
		h.shown[name][p.ID] = true
		h.since(h.known, p.ID, x)
		h.since(h.listed, p.ID, x)
	}
}

// since records in times that x shows a pet.
func (h *history) since(times map[int64]time.Time, id int64, x *exchange) {
	if first, ok := times[id]; !ok || x.Received.Before(first) {
		times[id] = x.Received
	}
}

// ask records what the request of x may have added.
func (h *history) ask(x *exchange) {
	for _, name := range x.names {
		a := h.asked[name]
		switch x.Status {
		case 400, 401, 403, 413, 415, 422:
			a.refused = x
		default:
			a.pets++
		}
		h.asked[name] = a
	}
}

// noteAdded records the pet that x added, and that the target accepts such pets.
func (h *history) noteAdded(x *exchange) {
	if !x.Succeeded() || x.petErr.id != nil || x.sent == nil {
		return
	}
	h.since(h.known, x.pet.ID, x)
	if other, ok := h.added[x.pet.ID]; ok && other != x {
		h.added[x.pet.ID] = nil // it is not known which of the two has the id
	} else {
		h.added[x.pet.ID] = x
	}
	for _, kind := range kindsOf(*x.sent) {
		if _, ok := h.accepts[kind]; !ok {
			h.accepts[kind] = x.Received
		}
	}
}

// name returns the name or text in a valid request, or "".
func (x *exchange) name() string {
	switch {
	case x.sent != nil:
		return x.sent.Name
	case x.text != nil:
		return *x.text
	}
	return ""
}

// stored returns the pet that must be in the store since x added it.
func (x *exchange) stored() pet {
	n := *x.sent
	n.Status = cmp.Or(n.Status, x.pet.Status) // the contract leaves a default open
	return pet{ID: x.pet.ID, newPet: n}
}

// creation returns the exchange that added the pet in the path of x. Nil: none did
// before x was sent.
func (x *exchange) creation() *exchange {
	if x.id == nil {
		return nil
	}
	c := x.run.added[*x.id]
	if c == nil || !c.Received.Before(x.Sent) {
		return nil
	}
	return c
}

// exists reports whether the pet in the path of x was in the store when x was sent. Of
// another client's pet, lists before and after x must have it.
func (x *exchange) exists() bool {
	if x.id == nil {
		return false
	}
	if since, ok := x.run.known[*x.id]; ok {
		return since.Before(x.Sent)
	}
	before, after := false, false
	for _, l := range x.run.lists[allPets("")] {
		before = before || l.Received.Before(x.Sent) && hasID(l.list.pets, *x.id)
		after = after || l.Sent.After(x.Received) && hasID(l.list.pets, *x.id)
	}
	return before && after
}

// gone reports whether x is about an operation that was removed as scheduled.
func (x *exchange) gone() bool { return x.op == opGet && x.run.removed }
