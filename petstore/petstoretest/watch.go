package petstoretest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// watcher finds what a client got wrong. It sees every exchange. What an exchange
// proves depends on those before it, and sometimes on those after it: see [rules].
type watcher struct {
	active []difficulty // of the server
	keys   []string     // its API keys, which belong to no other host

	mu        sync.Mutex
	requests  int
	succeeded int
	met       map[string]int // how often, by the name of the difficulty
	handled   map[string]int
	found     map[string]*found // by the name of the rule

	// What the client was told, and what it did so far.
	ended    time.Time             // when the exchange ended that ended last
	parallel bool                  // two exchanges overlapped, so there may be several clients
	pets     map[int64]*knownPet   // all pets that a response had
	rounded  map[string]int64      // the roundings of their IDs
	links    map[string][]string   // the queries of all links, with the difficulties of their exchanges
	paging   map[string]bool       // the query parameters of all links: their names, and name=value
	listed   time.Time             // when the last list was asked for
	refused  map[digest]*exchange  // the last one with Retry-After, by the request
	early    map[digest]bool       // requests that were repeated before Retry-After
	waited   int                   // requests that were repeated after it
	lost     map[digest]*exchange  // the last GET without a response, by the request
	succeeds map[digest]int        // how often a request succeeded
	creates  map[digest]*creates   // by what was to be created
	firsts   map[digest]firstKeyed // by keyed
	repeats  bool                  // an Idempotency-Key was sent again
}

func newWatcher(active []difficulty, keys ...string) *watcher {
	return &watcher{
		active:   active,
		keys:     keys,
		met:      map[string]int{},
		handled:  map[string]int{},
		found:    map[string]*found{},
		pets:     map[int64]*knownPet{},
		rounded:  map[string]int64{},
		links:    map[string][]string{},
		paging:   map[string]bool{},
		refused:  map[digest]*exchange{},
		early:    map[digest]bool{},
		lost:     map[digest]*exchange{},
		succeeds: map[digest]int{},
		creates:  map[digest]*creates{},
		firsts:   map[digest]firstKeyed{},
	}
}

// mistake is what a rule found in an exchange.
type mistake struct {
	x       *exchange
	earlier *exchange // what the client did not heed; nil: nothing in particular
	did     string

	// weigh says what is proven after all that was seen since. nil: what the rule
	// says, whatever follows.
	weigh func(habits) proof
}

// proof is how much a mistake is proven.
type proof int

const (
	nothing  proof = iota // it turned out to be none
	doubtful              // it may be on purpose
	certain               // it is a mistake whatever the client wanted
)

// exchanges returns those that prove m, in order.
func (m *mistake) exchanges() []*exchange {
	if m.earlier == nil {
		return []*exchange{m.x}
	}
	return []*exchange{m.earlier, m.x}
}

// found is what one rule has found.
type found struct {
	kept []*mistake // the first, and those that may turn out to be none
	more int
}

// maxKept limits the mistakes of one rule that are kept.
const maxKept = 1000

// see is called for every exchange, in the order in which they ended. It keeps x.
func (w *watcher) see(x *exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	explained := false // by a mistake that is certain
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

// learn remembers what x says about the client, and what it tells the client.
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

// handle counts that the client handled those of the difficulties that are in
// kinds.
func (w *watcher) handle(met []string, kinds ...string) {
	for _, name := range met {
		if slices.Contains(kinds, name) {
			w.handled[name]++
		}
	}
}

// findings returns what is a mistake after all that was seen, what is certain
// first. The caller holds w.mu.
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

// petID returns what a request to get a pet names as its ID.
func (x *exchange) petID() (id string, ok bool) {
	id, ok = strings.CutPrefix(x.path, "/pets/")
	return id, ok && x.isRead()
}

// onceKey returns the Idempotency-Key.
func (x *exchange) onceKey() string { return x.sent.Get("Idempotency-Key") }

// digest stands for one or more texts.
type digest [sha256.Size]byte

func digestOf(texts ...string) digest { return sha256.Sum256(fmt.Appendf(nil, "%q", texts)) }

// request returns what a request and its repetitions have in common.
func (x *exchange) request() digest {
	return digestOf(x.method, x.path, x.query, x.sent.Get("Authorization"), x.onceKey(), string(x.body))
}

// keyed returns what requests with the same Idempotency-Key have in common.
func (x *exchange) keyed() digest {
	return digestOf(x.path, x.sent.Get("Authorization"), x.onceKey())
}

// creation returns what all requests have in common that create the same.
func (x *exchange) creation() digest {
	return digestOf(x.path, x.sent.Get("Authorization"), string(x.body))
}
