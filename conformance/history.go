package conformance

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// markStart is how the mark of every run starts.
const markStart = "Conf"

// facts are what a history needs to know beside the exchanges.
type facts struct {
	mark string         // in nearly every name and text of the run
	ours *regexp.Regexp // matches the mark and what follows it in a name of the run
	url  string         // of the target
	now  time.Time

	categories map[int64]bool // that the target accepts, as the caller says
}

// newFacts returns the facts of a run that has no category yet.
func newFacts(mark, url string, now time.Time) facts {
	return facts{mark, regexp.MustCompile(regexp.QuoteMeta(mark) + `[a-z]{3}`), url, now, make(map[int64]bool)}
}

// history is what is known of a run. Judges read it and do not change it.
type history struct {
	facts // categories has those that the target has accepted, too

	// The exchanges of the run, in the order of Sent, without those that are Unreadable.
	all      []*exchange // those that say something about the target
	unserved []*exchange // requests that got no response or were not served

	// The pets and messages of the run.
	added       map[int64]*exchange       // the creation of each pet with a valid request, by id; nil: two have the id
	firstWithID map[string]*exchange      // the first response that assigns an id, by operation and id
	firstShown  map[int64]*exchange       // the first response that shows a pet, by id
	listedIDs   map[string]map[int64]bool // the ids of the pets in all lists, by name
	asked       map[string]asked          // the requests for pets, by name, those that are not valid too

	// The lists, also of the pets of others.
	lists   map[listQuery][]*exchange
	atStart map[listQuery][]pet // the pets that each list had before the run added any
	longest int                 // how many pets the longest list has

	removed bool // GET /pets/{petId} was removed as scheduled
}

// asked is what requests for pets with a name may have added.
type asked struct {
	pets    int       // how many at most
	refused *exchange // a request that was refused; nil: none
}

// newHistory returns what is known after the exchanges.
func newHistory(f facts, exchanges []*exchange) *history {
	h := &history{
		facts:       f,
		added:       make(map[int64]*exchange),
		firstWithID: make(map[string]*exchange),
		firstShown:  make(map[int64]*exchange),
		listedIDs:   make(map[string]map[int64]bool),
		asked:       make(map[string]asked),
		lists:       make(map[listQuery][]*exchange),
		atStart:     make(map[listQuery][]pet),
		removed:     !f.now.Before(removalBegins),
	}
	h.categories = maps.Clone(f.categories)
	exchanges = slices.SortedStableFunc(slices.Values(exchanges), func(a, b *exchange) int { return a.Sent.Compare(b.Sent) })
	for _, x := range exchanges {
		y := *x
		y.run = h
		h.record(&y)
	}
	return h
}

// record adds x to what is known.
func (h *history) record(x *exchange) {
	switch {
	case !x.Served():
		h.unserved = append(h.unserved, x)
	case !x.Unreadable():
		h.all = append(h.all, x)
	}
	switch x.op {
	case opList:
		h.recordList(x)
	case opGet:
		h.removed = h.removed && x.Status != http.StatusOK
	case opCreate:
		h.recordAsked(x)
		h.recordAdded(x)
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
		h.recordShown(p.ID, x)
	}
}

// recordShown records that x shows the pet with the id.
func (h *history) recordShown(id int64, x *exchange) {
	if first := h.firstShown[id]; first == nil || x.Received.Before(first.Received) {
		h.firstShown[id] = x
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

// recordAdded records the pet that x added, and that the target accepts its category.
func (h *history) recordAdded(x *exchange) {
	if !x.isAdded() {
		return
	}
	h.recordShown(x.pet.ID, x)
	if _, ok := h.added[x.pet.ID]; ok {
		h.added[x.pet.ID] = nil // it is not known which of the two has the id
	} else {
		h.added[x.pet.ID] = x
	}
	h.categories[x.sent.Category] = true
}

// addedBy returns the first exchange that shows that it added the pet with the id, even
// with a request that is wrong. Nil: there is none.
func (h *history) addedBy(id int64) *exchange {
	return h.firstWithID[opCreate+strconv.FormatInt(id, 10)]
}

// creations returns the exchanges that added the pets of the run, in their order.
func (h *history) creations() []*exchange {
	var all []*exchange
	for _, x := range h.all {
		if x.isAdded() && h.added[x.pet.ID] == x {
			all = append(all, x)
		}
	}
	return all
}
