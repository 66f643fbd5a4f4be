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
	fault *fault     // what is wrong with the body of a POST; nil: nothing
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
	ours     *regexp.Regexp                // matches the mark and what follows it in a name of the run
	parsed   map[*probe.Exchange]*exchange // what each exchange says by itself
	elements                               // of lists, so that each is read once

	// The exchanges of the run, each in one of these.
	all      []*exchange // those that say something about the target, in the order of Sent
	unserved []*exchange // requests that got no response or were not served, even when repeated
	repeated []*exchange // attempts that were not served, or whose response was cut short

	// The pets and messages of the run.
	added       map[int64]*exchange       // the creation of each pet with a valid request, by id; nil: two have the id
	firstWithID map[string]*exchange      // the first response that assigns an id, by operation and id
	knownSince  map[int64]time.Time       // since when a response has shown a pet, by id
	listedSince map[int64]time.Time       // since when a list has shown it
	listedIDs   map[string]map[int64]bool // the ids of the pets in all lists, by name
	byName      map[string][]*exchange    // the valid requests, by operation and name or text
	asked       map[string]asked          // the requests for pets, by name, those that are not valid too

	// The lists, also of the pets of others.
	lists   map[listQuery][]*exchange
	atStart map[listQuery][]pet // the pets that each list had before the run added any
	longest int                 // how many pets the longest list has

	// What the target has done so far.
	acceptedSince map[string]time.Time // since when it accepts a kind of value: see refusable.go
	lastServed    map[bool]time.Time   // when the last request was sent that it served, for pets and (true) for messages
	removed       bool                 // GET /pets/{petId} was removed as scheduled
}

// asked is what requests for pets with a name may have added.
type asked struct {
	pets    int       // how many at most
	refused *exchange // a request that was refused; nil: none
}

// newHistory returns what is known after the exchanges.
func newHistory(f facts, exchanges []*probe.Exchange) *history {
	h := &history{facts: f, ours: regexp.MustCompile(regexp.QuoteMeta(f.mark) + `[a-z]{3}`), parsed: make(map[*probe.Exchange]*exchange), elements: make(elements)}
	h.learn(exchanges)
	return h
}

// learn makes h what is known after the exchanges, of which it may know some already.
func (h *history) learn(exchanges []*probe.Exchange) {
	*h = history{
		facts: h.facts, ours: h.ours, parsed: h.parsed, elements: h.elements, // the rest begins again
		added:         make(map[int64]*exchange),
		firstWithID:   make(map[string]*exchange),
		knownSince:    make(map[int64]time.Time),
		listedSince:   make(map[int64]time.Time),
		listedIDs:     make(map[string]map[int64]bool),
		byName:        make(map[string][]*exchange),
		asked:         make(map[string]asked),
		lists:         make(map[listQuery][]*exchange),
		atStart:       make(map[listQuery][]pet),
		acceptedSince: make(map[string]time.Time),
		lastServed:    make(map[bool]time.Time),
		removed:       !h.now.Before(removalBegins),
	}
	exchanges = slices.Clone(exchanges)
	slices.SortStableFunc(exchanges, func(a, b *probe.Exchange) int { return a.Sent.Compare(b.Sent) })
	var all []*exchange
	for _, p := range exchanges {
		x := h.parsed[p]
		if x == nil {
			x = h.read(p)
			h.parsed[p] = x
		}
		all = append(all, x)
		if x.Served() {
			h.lastServed[x.Request.Messages] = x.Sent
		}
	}
	for _, x := range all {
		switch {
		case x.Cut, x.Repeated && !x.Served():
			h.repeated = append(h.repeated, x)
		case !x.isEvidence():
			h.unserved = append(h.unserved, x)
		case !x.unreadable:
			h.all = append(h.all, x)
		}
		h.record(x)
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
		if x.exact, x.fault = exact, wrong; wrong == nil {
			x.sent = &n
		}
		for _, name := range h.ours.FindAll(p.Request.Body, -1) {
			x.names = append(x.names, string(name))
		}
	case opSubmit:
		text, exact, wrong := readMessage(p.Request)
		if x.exact, x.fault = exact, wrong; wrong == nil {
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

// isEvidence reports whether x says something about the target. A 503 or 429 does not, nor
// does the 502 of a gateway that was sent once, or whose server is gone for good.
func (x *exchange) isEvidence() bool {
	if x.Status == http.StatusBadGateway || x.Status == http.StatusGatewayTimeout {
		return x.Attempts > 1 && x.run.lastServed[x.Request.Messages].After(x.Sent)
	}
	return x.Served()
}

// record adds x to what is known.
func (h *history) record(x *exchange) {
	switch x.op {
	case opList:
		h.recordList(x)
	case opGet:
		h.removed = h.removed && x.Status != http.StatusOK
	case opCreate:
		h.recordAsked(x)
		h.recordAdded(x)
	}
	if name := x.name(); name != "" && x.fault == nil {
		h.byName[x.op+name] = append(h.byName[x.op+name], x)
	}
	if x.Request.Method != http.MethodPost || !x.Succeeded() {
		return
	}
	if o, _ := x.Object(); o["id"] != nil {
		key := x.op + string(o["id"])
		x.twin = h.firstWithID[key]
		h.firstWithID[key] = cmp.Or(x.twin, x)
	}
}

func (h *history) recordList(x *exchange) {
	h.longest = max(h.longest, len(x.list.elements))
	if x.query != nil && x.list.ok {
		h.lists[*x.query] = append(h.lists[*x.query], x)
		if _, ok := h.atStart[*x.query]; !ok && len(h.asked) == 0 {
			h.atStart[*x.query] = x.list.pets
		}
	}
	for _, p := range x.list.pets {
		name := h.ours.FindString(p.Name)
		if name == "" {
			continue
		}
		if h.listedIDs[name] == nil {
			h.listedIDs[name] = make(map[int64]bool)
		}
		h.listedIDs[name][p.ID] = true
		h.since(h.knownSince, p.ID, x)
		h.since(h.listedSince, p.ID, x)
	}
}

// since records in times that x shows a pet.
func (h *history) since(times map[int64]time.Time, id int64, x *exchange) {
	if first, ok := times[id]; !ok || x.Received.Before(first) {
		times[id] = x.Received
	}
}

// recordAsked records what the request of x may have added.
func (h *history) recordAsked(x *exchange) {
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

// recordAdded records the pet that x added, and that the target accepts such pets.
func (h *history) recordAdded(x *exchange) {
	if !x.Succeeded() || x.petErr.id != nil || x.sent == nil {
		return
	}
	h.since(h.knownSince, x.pet.ID, x)
	if other, ok := h.added[x.pet.ID]; ok && other != x {
		h.added[x.pet.ID] = nil // it is not known which of the two has the id
	} else {
		h.added[x.pet.ID] = x
	}
	for _, kind := range kindsOf(*x.sent) {
		if _, ok := h.acceptedSince[kind]; !ok {
			h.acceptedSince[kind] = x.Received
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
	if since, ok := x.run.knownSince[*x.id]; ok {
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
