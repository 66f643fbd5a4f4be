package petstoretest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// watcher finds the mistakes of the clients. It sees every exchange, and applies
// every rule of [rules] to it. Whether an exchange is a mistake depends on the
// exchanges before it. Sometimes it also depends on the exchanges after it: then
// the decision is made anew whenever somebody asks for the findings.
type watcher struct {
	active []difficulty // of the server
	keys   []string     // its API keys, which no other server must receive

	mu        sync.Mutex
	requests  int
	succeeded int
	met       map[string]int    // how many exchanges had a difficulty, by its name
	handled   map[string]int    // how often a client handled a difficulty, by its name
	found     map[string]*found // by the name of the rule

	// What the clients sent and received so far.
	ended     time.Time             // the latest end of an exchange
	parallel  bool                  // two exchanges overlapped, so there may be several clients
	pets      map[int64]*knownPet   // the pets in all responses, by ID
	rounded   map[string]int64      // the IDs of these pets, by their roundings
	links     map[string][]string   // the difficulties of the exchange with a link, by the query of the link
	paging    map[string]bool       // the query parameters of all links: their names, and name=value
	listed    time.Time             // when the last list was requested
	refused   map[digest]*exchange  // the last 429 or 503 for a request that was not repeated since, by the request
	early     map[digest]bool       // the requests that were repeated before Retry-After
	waited    int                   // how many requests were repeated after Retry-After
	lost      map[digest]*exchange  // the last read without a response that was not repeated since, by the request
	succeeds  map[digest]int        // how often a request succeeded
	creations map[digest]*creations // by exchange.creation
	firsts    map[digest]firstKeyed // by exchange.keyed
	repeats   bool                  // an Idempotency-Key was sent again
}

func newWatcher(active []difficulty, keys ...string) *watcher {
	return &watcher{
		active:    active,
		keys:      keys,
		met:       map[string]int{},
		handled:   map[string]int{},
		found:     map[string]*found{},
		pets:      map[int64]*knownPet{},
		rounded:   map[string]int64{},
		links:     map[string][]string{},
		paging:    map[string]bool{},
		refused:   map[digest]*exchange{},
		early:     map[digest]bool{},
		lost:      map[digest]*exchange{},
		succeeds:  map[digest]int{},
		creations: map[digest]*creations{},
		firsts:    map[digest]firstKeyed{},
	}
}

// mistake is an exchange that breaks a rule.
type mistake struct {
	x       *exchange
	earlier *exchange // the exchange whose response the client ignored, if there is one
	did     string    // what the client did

	// weigh returns how certain the mistake is after all exchanges so far. Later
	// exchanges can make it more or less certain. nil: it is as certain as
	// rule.proof says, whatever follows.
	weigh func(habits) proof
}

// proof is how certain a mistake is.
type proof int

const (
	nothing  proof = iota // it is not a mistake
	doubtful              // it may be on purpose
	certain               // it is a mistake, whatever the client wanted
)

// exchanges returns the exchanges that prove m, in order.
func (m *mistake) exchanges() []*exchange {
	if m.earlier == nil {
		return []*exchange{m.x}
	}
	return []*exchange{m.earlier, m.x}
}

// found holds the mistakes that one rule has found.
type found struct {
	kept []*mistake // the first mistake, and all that have a weigh function
	more int        // how many others there are
}

// maxKept is how many mistakes are kept for one rule.
const maxKept = 1000

// see must be called for every exchange, in the order in which they ended. It
// applies the rules to x, and keeps x.
func (w *watcher) see(x *exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	explained := false // a certain mistake was found in x
	for _, r := range rules {
		if explained && r.proof == doubtful {
			break
		}
		m := r.find(w, x)
		if m == nil {
			continue
		}
		m.x = x
		explained = explained || r.proof == certain
		f := w.found[r.name]
		if f == nil {
			f = &found{}
			w.found[r.name] = f
		}
		switch {
		case len(f.kept) == 0, m.weigh != nil && len(f.kept) < maxKept:
			f.kept = append(f.kept, m)
		case m.weigh == nil:
			f.more++
		}
	}
	w.learn(x)
}

// learn records what the client sent and received in x. The rules use this for
// later exchanges.
func (w *watcher) learn(x *exchange) {
	w.requests++
	for _, name := range x.met {
		w.met[name]++
	}
	w.parallel = w.parallel || x.began.Before(w.ended)
	if x.ended.After(w.ended) {
		w.ended = x.ended
	}
	w.learnRepeats(x)
	w.learnLinks(x)
	if x.succeeded() {
		w.succeeded++
		w.succeeds[x.request()]++
		w.learnPets(x)
	}
}

// handle counts each difficulty that is both in met and in kinds as handled.
func (w *watcher) handle(met []string, kinds ...string) {
	for _, name := range met {
		if slices.Contains(kinds, name) {
			w.handled[name]++
		}
	}
}

// findings returns the mistakes in all exchanges so far, the certain ones first.
// The caller holds w.mu.
func (w *watcher) findings() []Finding {
	var sure, unsure []Finding
	h := w.habits()
	for _, r := range rules {
		f := w.found[r.name]
		if f == nil {
			continue
		}
		kept := map[proof][]*mistake{}
		for _, m := range f.kept {
			p := r.proof
			if m.weigh != nil {
				p = m.weigh(h)
			}
			kept[p] = append(kept[p], m)
		}
		finding := func(ms []*mistake) Finding {
			return Finding{
				Name: r.name, Count: len(ms) + f.more, Did: ms[0].did, Right: r.right, Difficulties: r.difficulties,
				Proof: w.transcript(ms[0].exchanges()...),
			}
		}
		if ms := kept[certain]; len(ms) > 0 {
			one := finding(ms)
			one.Certain = true
			sure = append(sure, one)
		} else if ms := kept[doubtful]; len(ms) > 0 {
			unsure = append(unsure, finding(ms))
		}
	}
	return append(sure, unsure...)
}

func (x *exchange) succeeded() bool { return x.status >= 200 && x.status <= 299 }

func (x *exchange) isRead() bool { return x.method == "GET" || x.method == "HEAD" }

func (x *exchange) isCreate() bool {
	return x.method == "POST" && (x.path == "/pets" || x.path == "/messages")
}

// petID returns the last part of the path of a GET /pets/{petId}. ok is false for
// another operation.
func (x *exchange) petID() (id string, ok bool) {
	id, ok = strings.CutPrefix(x.path, "/pets/")
	return id, ok && x.isRead()
}

// onceKey returns the Idempotency-Key of the request, or "".
func (x *exchange) onceKey() string { return x.sent.Get("Idempotency-Key") }

// digest is a hash of one or more texts. It is shorter to keep than they are.
type digest [sha256.Size]byte

func digestOf(texts ...string) digest {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return digest(h.Sum(nil))
}

// request returns a digest that is the same for a request and its repetitions.
func (x *exchange) request() digest {
	return digestOf(x.method, x.path, x.query, x.sent.Get("Authorization"), x.onceKey(), string(x.body))
}

// keyed returns a digest that is the same for all requests of a client with the
// same Idempotency-Key.
func (x *exchange) keyed() digest {
	return digestOf(x.path, x.sent.Get("Authorization"), x.onceKey())
}

// creation returns a digest that is the same for all requests of a client to
// create equal pets or messages, whatever their Idempotency-Key.
func (x *exchange) creation() digest {
	return digestOf(x.path, x.sent.Get("Authorization"), string(x.body))
}
