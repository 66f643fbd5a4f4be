package petstoretest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// creates are the requests that create the same.
type creates struct {
	lost      []*exchange // got no response, and were not repeated with their key
	again     bool        // one was sent after one of these
	sent      int
	succeeded int
	parallel  bool      // two of them overlapped
	ended     time.Time // when the one ended that ended last

	pet    *knownPet // of the last one that succeeded
	petKey string    // its Idempotency-Key
	petAt  time.Time // when it ended
}

// firstKeyed is the first request with an Idempotency-Key.
type firstKeyed struct {
	number   int
	category int64
}

// repeatedWithoutKey: a create got no response, and then the client created the
// same, without the Idempotency-Key of the first.
//
// It is no proof if the client creates equal things on purpose: then more than
// one of them succeeds, or they overlap. Nor is it one if both have keys, and the
// client repeats one with its key.
func repeatedWithoutKey(w *watcher, x *exchange) *mistake {
	c := w.creates[x.creation()]
	if c == nil || !x.isCreate() || !x.done {
		return nil
	}
	keyed, how := x.onceKey() != "", "without an Idempotency-Key"
	if keyed {
		how = "with another Idempotency-Key"
	}
	i := slices.IndexFunc(c.lost, func(lost *exchange) bool {
		missed := !lost.done && x.path == "/pets" && w.listed.After(lost.ended) // the client looked for the pet first
		return !missed && keyed == (lost.onceKey() != "")                       // one with a key and one without are of different clients
	})
	if i < 0 {
		return nil
	}
	first := c.lost[i]
	c.again = true
	return &mistake{
		earlier: first,
		did:     fmt.Sprintf("repeated POST %s %s after a response was lost, so it may have created twice", x.path, how),
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

// habits are what all requests together say about the clients. A single pair of
// equal requests proves little: they may be of two tests or of two goroutines,
// of which the first gave up. But clients that do this leave most failed
// requests alone, or send most requests more than once.
type habits struct {
	differs      bool // what the clients create is different: three or more things were created once, and nothing twice
	createdAgain int  // creates that were sent again after a lost response
	leftLost     int  // creates that were not
	repeatsEarly int  // requests that were sent again before Retry-After
	leftRefused  int  // requests that were not
}

func (w *watcher) habits() habits {
	h := habits{repeatsEarly: len(w.early), leftRefused: w.waited}
	for _, x := range w.refused {
		if x.asksToWait() {
			h.leftRefused++
		}
	}
	once, twice := 0, 0
	for _, c := range w.creates {
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

// createdAgain: a create succeeded, the client listed pets, did not find the pet,
// and created it again.
func createdAgain(w *watcher, x *exchange) *mistake {
	c := w.creates[x.creation()]
	if c == nil || c.pet == nil || c.pet.listed || !x.isCreate() || !x.succeeded() ||
		w.listed.Before(c.petAt) || x.onceKey() != "" && x.onceKey() == c.petKey {
		return nil
	}
	return &mistake{did: "created an equal pet again, after a list that did not show the first"}
}

// ignoredRetryAfter: the same request came again earlier than Retry-After allows.
//
// It is proof only if it is the same client that repeats it, and had read the
// response. That is so if the request has the same Idempotency-Key and comes on
// the connection of the first. Otherwise no two exchanges may overlap, and the
// request may succeed only once.
func ignoredRetryAfter(w *watcher, x *exchange) *mistake {
	request := x.request()
	first := w.refused[request]
	if first == nil || !x.began.Before(first.retryAt()) {
		return nil
	}
	return &mistake{
		earlier: first,
		did:     fmt.Sprintf("repeated a request after %.2f s, though the response said Retry-After: %s", x.began.Sub(first.began).Seconds(), first.header.Get("Retry-After")),
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

// asksToWait reports whether x says that a repetition must wait.
func (x *exchange) asksToWait() bool { return x.retryAt().After(x.ended) }

// retryAt returns the earliest time for a repetition of x by its Retry-After.
// Clocks differ, and a client counts from when it has the response, which is
// after began.
func (x *exchange) retryAt() time.Time {
	field := x.header.Get("Retry-After")
	if n, err := strconv.Atoi(field); err == nil {
		return x.began.Add(time.Duration(n) * time.Second * 9 / 10)
	}
	at, _ := http.ParseTime(field)
	return at.Add(-time.Second) // a date has whole seconds
}

func (w *watcher) learnRepeats(x *exchange) {
	request := x.request()
	if first := w.refused[request]; first != nil && !x.began.Before(first.ended) {
		delete(w.refused, request)
		switch {
		case x.began.Before(first.retryAt()):
			w.early[request] = true
		case first.asksToWait():
			w.waited++
			fallthrough
		default:
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
		w.learnCreate(x)
	}
}

func (w *watcher) learnCreate(x *exchange) {
	c := w.creates[x.creation()]
	if c == nil {
		c = &creates{}
		w.creates[x.creation()] = c
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
