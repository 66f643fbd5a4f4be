package conformance

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// history is what is known of a run. Judges read it and do not change it.
type history struct {
	url      string         // of the target
	mark     string         // in nearly every name and text of the run
	ourNames *regexp.Regexp // matches the mark and what follows it in a name of the run

	// The exchanges of the run, in the order of Sent.
	all      []*exchange // those that say something about the target, and can be read
	unserved []*exchange // those that got no response or were not served

	// The pets and messages of the run.
	posts      []*exchange                    // the requests for pets, those that are not valid too
	added      map[int64]*exchange            // the creation of each pet with a valid request, by ID; nil: two have the ID
	firstShown map[int64]*exchange            // the first creation or list that shows a pet, by ID
	atStart    map[probe.ListQuery]probe.List // each list before the run added a pet
	longest    int                            // how many pets the longest list has
	removed    bool                           // GET /pets/{petId} was removed as scheduled
}

// newHistory returns what is known of a run against the target with that URL, if it is now.
func newHistory(r stimuli.Traffic, url string, now time.Time) *history {
	h := &history{
		url:        url,
		mark:       r.Mark,
		ourNames:   regexp.MustCompile(regexp.QuoteMeta(r.Mark) + `[a-z]{3}`),
		added:      make(map[int64]*exchange),
		firstShown: make(map[int64]*exchange),
		atStart:    make(map[probe.ListQuery]probe.List),
		removed:    !now.Before(removalBegins),
	}
	inOrder := func(a, b *probe.Exchange) int { return a.Sent.Compare(b.Sent) }
	for _, x := range slices.SortedStableFunc(slices.Values(r.Exchanges), inOrder) {
		if !errors.Is(x.Err, context.Canceled) { // which the caller of the run has done
			h.record(readExchange(h, x))
		}
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
		if _, again := h.atStart[*x.query]; !again {
			h.atStart[*x.query] = x.list
		}
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
		if x.Succeeded() && x.petErr.ID == nil && x.pet.ID == id {
			return x
		}
	}
	return nil
}
