package petstoretest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// creations holds what is known about all requests of a client to create equal pets
// or messages.
type creations struct {
	lost      []*exchange // requests without a response, which were not repeated with their key
	again     bool        // an equal request followed one of lost
	sent      int         // how many were sent
	succeeded int         // how many succeeded
	parallel  bool        // two of them overlapped
	ended     time.Time   // the latest end of one

	pet    *knownPet // the pet that was created last
	petKey string    // the Idempotency-Key of that request
	petAt  time.Time // when its exchange ended
}

// firstKeyed is the first request with an Idempotency-Key.
type firstKeyed struct {
	number   int
	category int64
}

// repeatedWithoutKey finds a creation that follows an equal one without a
// response, and does not have the Idempotency-Key of that one.
//
// It is not a mistake if the client creates equal things on purpose: then more
// than one of the creations succeeds, or they overlap. Nor is it a mistake if both
// have keys, and the client has repeated some creation with its key.
func repeatedWithoutKey(w *watcher, x *exchange) *mistake {
	c := w.creations[x.creation()]
	if c == nil || !x.isCreate() || !x.done {
		return nil
	}
	keyed, how := x.onceKey() != "", "without an Idempotency-Key"
	if keyed {
		how = "with another Idempotency-Key"
	}
	i := slices.IndexFunc(c.lost, func(lost *exchange) bool {
		missed := !lost.done && x.path == "/pets" && w.listed.After(lost.ended) // the client saw that the pet was missing
		return !missed && keyed == (lost.onceKey() != "")                       // a creation with a key and one without are of different clients
	})
	if i < 0 {
		return nil
	}
	first := c.lost[i]
	c.again = true
	return &mistake{
		earlier: first,
		did:     fmt.Sprintf("repeated POST %s %s after a lost response, so the server may have carried it out twice", x.path, how),
		weigh: func(h habits) proof {
			switch {
			case c.succeeded > 1, c.parallel, keyed && w.repeats:
				return nothing
			case h.differs && h.createdAgain > h.leftLost && (h.createdAgain > 1 || !w.parallel && x.number == first.number+1):
				return certain
			}
			return doubtful
		},
	}
}

// habits counts, over all exchanges, what the clients usually do after a failure.
//
// A pair of equal requests proves little by itself: they may come from two tests or
// two goroutines, the first of which gave up. But then most other failed requests
// are not sent again, or equal requests also succeed twice elsewhere. So a rule
// compares how often the clients did the wrong thing with how often they did not.
type habits struct {
	differs      bool // the clients create different things: at least three were created once, and none twice
	createdAgain int  // creations that were sent again after a lost response
	leftLost     int  // creations that were not sent again after a lost response
	repeatsEarly int  // requests that were sent again before Retry-After
	leftRefused  int  // requests that were sent again later, or not at all
}

// habits counts what the exchanges so far show.
func (w *watcher) habits() habits {
	h := habits{repeatsEarly: len(w.early), leftRefused: w.waited}
	for _, x := range w.refused {
		if x.asksToWait() {
			h.leftRefused++
		}
	}
	once, twice := 0, 0
	for _, c := range w.creations {
		switch {
		case c.succeeded > 1:
			twice++
		case len(c.lost) > 0 && c.again:
			h.createdAgain++
		case len(c.lost) > 0:
			h.leftLost++
		case c.sent == 1 && c.succeeded == 1:
			once++
		}
	}
	h.differs = once >= 3 && twice == 0
	return h
}

// createdAgain finds a creation of a pet that equals an earlier one, after a list
// that did not contain the earlier one.
func createdAgain(w *watcher, x *exchange) *mistake {
	c := w.creations[x.creation()]
	if c == nil || c.pet == nil || c.pet.listed || !x.isCreate() || !x.succeeded() ||
		w.listed.Before(c.petAt) || x.onceKey() != "" && x.onceKey() == c.petKey {
		return nil
	}
	return &mistake{did: "created a pet again, after a list that did not contain the first one"}
}

// ignoredRetryAfter finds a request that was repeated earlier than Retry-After
// allows.
//
// It is a mistake only if the same client repeated the request, and had read the
// response before. That is certain if the repetition has the same Idempotency-Key
// and comes over the same connection. Otherwise it can be certain only if no two
// exchanges overlap, the request succeeds at most once, and the clients repeat most
// refused requests too early.
func ignoredRetryAfter(w *watcher, x *exchange) *mistake {
	request := x.request()
	first := w.refused[request]
	if first == nil || !x.began.Before(first.retryAt()) {
		return nil
	}
	return &mistake{
		earlier: first,
		did:     fmt.Sprintf("repeated a request after %.2f s, although the response had Retry-After: %s", x.began.Sub(first.began).Seconds(), first.header.Get("Retry-After")),
		weigh: func(h habits) proof {
			switch {
			case x.onceKey() != "" && x.client != "" && x.client == first.client:
				return certain
			case w.parallel:
				return nothing
			case w.succeeds[request] <= 1 && h.repeatsEarly > h.leftRefused && (h.repeatsEarly > 1 || h.differs && x.number == first.number+1):
				return certain
			}
			return doubtful
		},
	}
}

// asksToWait reports whether a client that repeats x must wait first.
func (x *exchange) asksToWait() bool { return x.retryAt().After(x.ended) }

// retryAt returns the time before which a repetition of x is certainly too early.
// It is a little earlier than Retry-After says, because clocks differ. It counts
// from the beginning of x, although a client counts from the response.
func (x *exchange) retryAt() time.Time {
	field := x.header.Get("Retry-After")
	if n, err := strconv.Atoi(field); err == nil {
		return x.began.Add(time.Duration(n) * time.Second * 9 / 10)
	}
	at, _ := http.ParseTime(field)
	return at.Add(-time.Second) // a date has whole seconds
}

// learnRepeats records whether x repeats a request that failed, and whether x
// failed.
func (w *watcher) learnRepeats(x *exchange) {
	request := x.request()
	if first := w.refused[request]; first != nil && !x.began.Before(first.ended) {
		delete(w.refused, request)
		switch {
		case x.began.Before(first.retryAt()):
			w.early[request] = true
		case first.asksToWait():
			w.waited++
			w.handle(first.met, "too-many-requests", "unavailable")
		}
	}
	if x.status == http.StatusTooManyRequests || x.status == http.StatusServiceUnavailable {
		w.refused[request] = x
	}
	if first := w.lost[request]; first != nil && !x.began.Before(first.ended) {
		w.handle(first.met, "lost-response", "lost-request")
		delete(w.lost, request)
	}
	if x.status == 0 && x.isRead() {
		w.lost[request] = x
	}
	if x.isCreate() {
		w.learnCreation(x)
	}
}

// learnCreation records a creation.
func (w *watcher) learnCreation(x *exchange) {
	c := w.creations[x.creation()]
	if c == nil {
		c = &creations{}
		w.creations[x.creation()] = c
	}
	c.sent++
	c.parallel = c.parallel || x.began.Before(c.ended)
	if x.ended.After(c.ended) {
		c.ended = x.ended
	}
	if key := x.onceKey(); key != "" {
		c.lost = slices.DeleteFunc(c.lost, func(first *exchange) bool {
			again := first.onceKey() == key && !x.began.Before(first.ended)
			if again {
				w.handle(first.met, "lost-response", "lost-request")
			}
			return again
		})
		if _, again := w.firsts[x.keyed()]; again {
			w.repeats = true
		} else {
			category, _ := strconv.ParseInt(x.category(), 10, 64)
			w.firsts[x.keyed()] = firstKeyed{x.number, category}
		}
	}
	if x.status == 0 {
		c.lost = append(c.lost, x)
	}
	if x.succeeded() {
		c.succeeded++
	}
}
