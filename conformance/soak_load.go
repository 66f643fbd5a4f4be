package conformance

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// load is a running soak: what it has sent and seen.
type load struct {
	*tester      // for the requests of all clients; it must not record exchanges
	first   pet  // all others have its category
	noGet   bool // GET /pets/{petId} was removed as scheduled

	mu     sync.Mutex
	pets   map[int64]pet     // those acknowledged or shown, by id
	order  []int64           // their ids, in the order in which they were seen
	sent   map[string]newPet // by name
	ids    map[string]int64  // of pets, by name
	texts  map[string]string // of messages, by id as it is written
	served time.Time         // when the target last served a request
	down   bool              // the target is being restarted
	up     time.Time         // when it last served again after a restart
	report SoakReport
}

// step sends one request of a client. The name is for what it adds.
func (l *load) step(r *rand.Rand, name string) {
	switch n := r.IntN(10); {
	case n < 3:
		l.create(newPet{name, l.first.Category, append(statuses(), "")[r.IntN(4)]})
	case n < 4 && l.s.target.MessagesURL != "":
		l.submit(name)
	case n < 7 && !l.noGet:
		ids := l.recent([]int{10, 1000}[r.IntN(2)])
		l.get(ids[r.IntN(len(ids))])
	default:
		l.list(append(statuses(), "")[r.IntN(4)], []int{1, 5, 20, 100}[r.IntN(4)])
	}
}

func (l *load) create(n newPet) {
	l.mu.Lock()
	l.sent[n.Name] = n
	l.mu.Unlock()
	x := l.send(probe.Post("/pets", n.json()))
	if !x.Served() || l.disturbed(x) {
		l.mu.Lock()
		l.report.Unknown++
		l.mu.Unlock()
	}
	l.judge(x, func(t *tester) { l.wantShown(x, t.added(x)) })
}

func (l *load) submit(text string) {
	x := l.send(probe.PostMessage(messageBody(text)))
	l.judge(x, func(t *tester) {
		t.wantText(x)
		id := string(readObject(x)["id"])
		l.mu.Lock()
		defer l.mu.Unlock()
		if other, ok := l.texts[id]; ok && other != text {
			fail(x, "two messages have the same id: %s", probe.Short(id))
		}
		l.texts[id] = text
	})
}

func (l *load) get(id int64) {
	l.mu.Lock()
	_, known := l.pets[id]
	l.mu.Unlock()
	x := l.send(probe.Get(petPath(id)))
	l.judge(x, func(t *tester) {
		if x.Status == 404 && known {
			fail(x, "a pet is lost: the response for the id %d is %s", id, x.StatusLine())
		}
		if known {
			t.wantStatus(x, 200, "the pet is in the store")
		}
		if x.Status == 200 {
			l.wantShown(x, readPet(x))
		}
	})
}

func (l *load) list(status string, limit int) {
	q := listQuery{status, limit}
	x := l.send(probe.Get("/pets" + q.String()))
	l.judge(x, func(*tester) {
		e := &evidence{Exchange: x, query: &q, list: make(elements).parseListing(x)}
		e.wantListed()
		e.wantList()
		e.list.wantPets()
		e.list.wantIDs()
		e.wantFiltered()
		e.wantAtMost()
		for _, p := range e.list.pets {
			l.wantShown(x, p)
		}
	})
}

// verify gets the pets with these ids. Those that the soak has added must be there.
func (l *load) verify(ids []int64) {
	if !l.noGet {
		concurrently(len(ids), l.s.opts.Parallel, func(i int) { l.get(ids[i]) })
	}
}

// send sends r. A request that is not a GET is sent once, whatever happens to it.
func (l *load) send(r probe.Request) *probe.Exchange {
	var x *probe.Exchange
	if r.Method == "GET" {
		x, _ = l.s.client.Do(l.ctx, r)
	} else {
		x = l.s.client.Send(l.ctx, r)
	}
	l.s.client.Forget(func(*probe.Exchange) bool { return true }) // a soak may be long
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Sent++
	if x.Served() {
		l.served = time.Now()
	} else {
		l.report.Unserved++
	}
	return x
}

// judge calls want, and adds a finding if it ends with a violation.
func (l *load) judge(x *probe.Exchange, want func(t *tester)) {
	if !x.Served() || l.disturbed(x) {
		return
	}
	e := attempt(func() { want(&tester{ctx: l.ctx, s: l.s, check: l.check}) })
	if e != nil && e.verdict == Fail {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.report.add(x.Request.Operation()+" "+e.flaw.Kind, l.s.redact.Show(e.message), newExchange(x, l.s.redact, proofBody))
	}
}

// disturbed reports whether x may be from a proxy in front of the target, because
// the target was restarting.
func (l *load) disturbed(x *probe.Exchange) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !x.Succeeded() && (l.down || x.Sent.Before(l.up))
}

func (l *load) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.up = down, time.Now()
}

// silence returns for how long the target has not served a request.
func (l *load) silence() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.served)
}

// recent returns up to n ids, those seen last.
func (l *load) recent(n int) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.order[max(0, len(l.order)-n):])
}

// gaps returns the ids between those of the soak that no response had: a pet that
// was created twice may have one. If there are more of them than pets, the target
// does not assign ids one by one, and gaps returns none.
func (l *load) gaps() []int64 {
	ids := slices.Sorted(slices.Values(l.order))
	var gaps []int64
	for i := range len(ids) - 1 {
		for id := ids[i] + 1; id < ids[i+1]; id++ {
			if gaps = append(gaps, id); len(gaps) > len(ids) {
				return nil
			}
		}
	}
	return gaps
}

// wantShown ends the judgement of x, which shows p, if p is not as it was sent or as
// it was shown before. It records p.
func (l *load) wantShown(x *probe.Exchange, p pet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent, ours := l.sent[p.Name]
	before, known := l.pets[p.ID]
	id, twice := l.ids[p.Name]
	switch {
	case known && before.Name != p.Name:
		fail(x, "two pets have the same id: %d was %q, and is %q", p.ID, before.Name, probe.Short(p.Name))
	case known:
		if diff, ok := before.diff(p); !ok {
			fail(x, "a pet has changed: %s", diff.text)
		}
		return
	case !ours:
		return
	case twice && id != p.ID:
		fail(x, "a pet was created twice: %q has the ids %d and %d", p.Name, id, p.ID)
	}
	if diff, ok := sent.stored(p).diff(p); !ok {
		fail(x, "a pet is not as it was sent: %s", diff.text)
	}
	l.pets[p.ID], l.ids[p.Name] = p, p.ID
	l.order = append(l.order, p.ID)
}
