package conformance

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// history is what is known of a run. Judges read it and do not change it.
type history struct {
	url      string // of the target
	now      time.Time
	mark     string         // in nearly every name and text of the run
	ourNames *regexp.Regexp // matches the mark and what follows it in a name of the run

	// The exchanges of the run, in the order of Sent, without those that are Unreadable.
	all      []*exchange // those that say something about the target
	unserved []*exchange // requests that got no response or were not served

	// The pets and messages of the run.
	posts      []*exchange                    // the requests for pets, those that are not valid too
	added      map[int64]*exchange            // the creation of each pet with a valid request, by ID; nil: two have the ID
	firstShown map[int64]*exchange            // the first creation or list that shows a pet, by ID
	atStart    map[probe.ListQuery]probe.List // each list before the run added a pet
	longest    int                            // how many pets the longest list has
	removed    bool                           // GET /pets/{petId} was removed as scheduled
}

// newHistory returns what is known of a run against the target with that URL, if it is now.
func newHistory(r stimuli.Record, url string, now time.Time) *history {
	h := &history{
		url:        url,
		now:        now,
		mark:       r.Mark,
		ourNames:   regexp.MustCompile(regexp.QuoteMeta(r.Mark) + `[a-z]{3}`),
		added:      make(map[int64]*exchange),
		firstShown: make(map[int64]*exchange),
		atStart:    make(map[probe.ListQuery]probe.List),
		removed:    !now.Before(removalBegins),
	}
	inOrder := func(a, b *probe.Exchange) int { return a.Sent.Compare(b.Sent) }
	for _, x := range slices.SortedStableFunc(slices.Values(r.Exchanges), inOrder) {
		h.record(readExchange(h, x))
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
	case probe.ListPets:
		h.recordList(x)
	case probe.GetPet:
		h.removed = h.removed && x.Status != http.StatusOK
	case probe.CreatePet:
		h.recordPost(x)
	}
}

func (h *history) recordList(x *exchange) {
	h.longest = max(h.longest, len(x.list.Elements))
	if x.query != nil && x.list.OK && len(h.posts) == 0 {
		h.atStart[*x.query] = x.list
	}
	for _, p := range x.list.Pets {
		h.recordShown(p.ID, x)
	}
}

// recordShown records that x shows the pet with the ID.
func (h *history) recordShown(id int64, x *exchange) {
	if first := h.firstShown[id]; first == nil || x.Received.Before(first.Received) {
		h.firstShown[id] = x
	}
}

// recordPost records a request for a pet, and the pet that it added.
func (h *history) recordPost(x *exchange) {
	h.posts = append(h.posts, x)
	if !x.isAdded() {
		return
	}
	_, again := h.added[x.pet.ID]
	first := h.firstShown[x.pet.ID]
	if again || first != nil && first.Received.Before(x.Sent) {
		h.added[x.pet.ID] = nil // it is not known which of the two has the ID
	} else {
		h.added[x.pet.ID] = x
	}
	h.recordShown(x.pet.ID, x)
}

// addedBy returns the first exchange that shows that it added the pet with the ID, even
// with a request that is wrong. Nil: there is none.
func (h *history) addedBy(id int64) *exchange {
	for _, x := range h.posts {
		if added, ok := x.AddedID(); ok && added == id {
			return x
		}
	}
	return nil
}

// requestsFor returns the requests of the run for a pet with the name of p, if none of their
// responses has its ID.
func (h *history) requestsFor(p probe.Pet) []*exchange {
	name := h.ourNames.FindString(p.Name)
	if _, ok := h.added[p.ID]; ok || name == "" {
		return nil
	}
	var requests []*exchange
	for _, x := range h.posts {
		if bytes.Contains(x.Request.Body, []byte(name)) {
			requests = append(requests, x)
		}
	}
	return requests
}

// otherWriter returns a pet that another client has added during the run, and a list that shows
// it: the pet was not there before, and the run has not sent its name. Nil: there is none, or
// more pets were there before than a list shows.
func (h *history) otherWriter() (*exchange, probe.Pet) {
	start, ok := h.atStart[probe.LongestList("")]
	if !ok || start.More || len(start.Elements) >= 100 {
		return nil, probe.Pet{}
	}
	for _, x := range h.all {
		for _, p := range x.list.Pets {
			if !probe.HasID(start.Pets, p.ID) && h.addedBy(p.ID) == nil && !h.hasSent(p.Name) {
				return x, p
			}
		}
	}
	return nil, probe.Pet{}
}

// hasSent reports whether a request for a pet may have had that name.
func (h *history) hasSent(name string) bool {
	return slices.ContainsFunc(h.posts, func(x *exchange) bool {
		if x.intent.Pet != nil {
			return x.intent.Pet.Name == name
		}
		return bytes.Contains(x.Request.Body, []byte(name)) // of a body that is wrong, anything may be taken for the name
	})
}
