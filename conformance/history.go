package conformance

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
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

// knowsStart reports whether the lists at the start show every pet that was there: the longest
// one has fewer than it may have, and the target does not end lists there.
func (h *history) knowsStart() bool {
	start, ok := h.atStart[probe.LongestList("")]
	n := len(start.Elements)
	return ok && !start.More && n < 100 && (n == 0 || n < h.longest)
}

// isNew reports whether p was not there before the run, and no response to a POST has its ID.
func (h *history) isNew(p probe.Pet) bool {
	for _, l := range h.atStart {
		if probe.HasID(l.Pets, p.ID) {
			return false
		}
	}
	return h.addedBy(p.ID) == nil && (h.knowsStart() || h.ourNames.MatchString(p.Name))
}

// requestsFor returns the requests of the run for a pet that may have the name of p.
func (h *history) requestsFor(p probe.Pet) []*exchange {
	name := []byte(cmp.Or(h.ourNames.FindString(p.Name), p.Name)) // a target may have changed the rest
	var requests []*exchange
	for _, x := range h.posts {
		if x.intent.Pet != nil && x.intent.Pet.Name == p.Name ||
			(x.intent.Pet == nil || len(name) > len(h.mark)) && bytes.Contains(x.Request.Body, name) {
			requests = append(requests, x)
		}
	}
	return requests
}

// unexplained returns the requests for a pet with the name of p, if none of them can have added
// p: each was refused, or has added another one. Nil: p may be there.
func (h *history) unexplained(p probe.Pet) []*exchange {
	if !h.isNew(p) {
		return nil
	}
	requests := h.requestsFor(p)
	mayHaveAdded := func(x *exchange) bool { return !x.Refused() && !x.isAdded() }
	if slices.ContainsFunc(requests, mayHaveAdded) {
		return nil
	}
	return requests
}

// otherWriter returns a pet that was not there before and that the run has not sent, and a list
// that shows it. Nil: there is none.
func (h *history) otherWriter() (*exchange, probe.Pet) {
	for _, x := range h.all {
		for _, p := range x.list.Pets {
			unreadable := strings.Contains(p.Name, "\ufffd") // as which a target may store what is not UTF-8
			if h.isNew(p) && !unreadable && len(h.requestsFor(p)) == 0 {
				return x, p
			}
		}
	}
	return nil, probe.Pet{}
}
