package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// SoakOptions says how long to load a target, and whether to restart it meanwhile.
type SoakOptions struct {
	// For is how long to send requests. Zero: ten minutes.
	For time.Duration

	// Restart restarts the target, within a minute. It may return before the
	// target responds again. Nil: the target is not restarted.
	Restart func(context.Context) error

	// Every is the time between two restarts. Zero: 30 seconds.
	Every time.Duration
}

// soakPatience is how long a target may fail to respond, after a restart or
// otherwise, before a soak ends.
const soakPatience = time.Minute

// Soak sends a mixed load of valid requests to target from opts.Parallel clients,
// and checks that nothing is lost, changed or created twice: every pet whose
// creation was acknowledged, or that was shown, stays as it is; a creation without
// a response adds one pet or none; an id never belongs to two pets or messages.
// Lists are judged too. Options that select or judge checks have no effect.
//
// A client waits up to 100 ms between two requests. When ctx ends, the load ends
// early, and what was added is fetched for the last time. Errors are as in [Run].
func Soak(ctx context.Context, target Target, opts *Options, soak SoakOptions) (*SoakReport, error) {
	soak.For = cmp.Or(soak.For, 10*time.Minute)
	soak.Every = cmp.Or(soak.Every, 30*time.Second)
	if soak.For < 0 || soak.Every < 0 {
		return nil, optionsError("a soak for %v, with restarts every %v: must not be negative", soak.For, soak.Every)
	}
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	defer s.client.Close()
	if err := s.findPetstore(ctx); err != nil {
		return nil, err
	}
	s.findReuse(ctx)
	l := &load{
		tester: &tester{ctx: context.WithoutCancel(ctx), s: s, check: "soak"},
		pets:   make(map[int64]pet),
		sent:   make(map[string]newPet),
		ids:    make(map[string]int64),
		texts:  make(map[string]string),
		served: time.Now(), up: time.Now(),
		report: SoakReport{Format: SoakFormat, URL: s.target.URL, MessagesURL: s.target.MessagesURL, Mark: s.mark, Began: time.Now().UTC().Truncate(time.Millisecond)},
	}
	if e := attempt(l.begin); e != nil {
		return nil, s.targetError("%s", e.message)
	}
	ctx, cancel := context.WithTimeout(ctx, soak.For)
	defer cancel()
	l.run(ctx, cancel, soak)
	return l.finish(), nil
}

// load is a soak that runs.
type load struct {
	*tester // for the requests of all clients; it must not record exchanges
	first   pet
	noGet   bool // GET /pets/{petId} was removed as scheduled

	mu     sync.Mutex
	pets   map[int64]pet     // that were acknowledged or shown, by id
	order  []int64           // their ids, in the order in which they were seen
	sent   map[string]newPet // by name
	ids    map[string]int64  // of pets, by name
	texts  map[string]string // of messages, by id as it is written
	served time.Time         // when the target served a request for the last time
	down   bool              // the target is being restarted
	up     time.Time         // when it was last found serving after a restart
	report SoakReport
}

// begin adds the first pet.
func (l *load) begin() {
	l.first = l.firstPet()
	l.noGet = l.getRemoved()
	l.sent[l.first.Name] = l.first.newPet
	l.shows(l.first)
}

// run sends requests until ctx is done.
func (l *load) run(ctx context.Context, cancel func(), soak SoakOptions) {
	var clients sync.WaitGroup
	for i := range l.s.opts.Parallel {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(l.s.opts.Seed, uint64(i)))
			for n := 0; ctx.Err() == nil; n++ {
				l.step(r, fmt.Sprintf("%s-%d-%d", l.s.mark, i+1, n+1))
				wait(ctx, time.Duration(r.IntN(100))*time.Millisecond)
				if l.silence() > soakPatience {
					cancel()
				}
			}
		})
	}
	for soak.Restart != nil && ctx.Err() == nil {
		if !wait(ctx, soak.Every) {
			break
		}
		if err := l.restart(soak.Restart); err != nil {
			l.report.Error = l.s.redact.Show(err.Error())
			cancel()
		}
	}
	clients.Wait()
}

// restart restarts the target under load, and then gets the pets that were seen
// last before.
func (l *load) restart(restart func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(l.ctx, soakPatience)
	defer cancel()
	l.setDown(true)
	if err := restart(ctx); err != nil {
		return fmt.Errorf("the target was not restarted: %w", err)
	}
	l.report.Restarts++
	if !l.awaitTarget() {
		return fmt.Errorf("the target has not responded for %v after restart %d", soakPatience, l.report.Restarts)
	}
	last := l.recent(200)
	l.setDown(false)
	l.verify(last)
	return nil
}

func (l *load) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.up = down, time.Now()
}

// disturbed reports whether what was in front of the target while it restarted may
// have responded to x, and not the target.
func (l *load) disturbed(x *probe.Exchange) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !x.Succeeded() && (l.down || x.Sent.Before(l.up))
}

// wait waits for d and reports whether ctx is not done before.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// finish fetches everything for the last time and returns the report.
func (l *load) finish() *SoakReport {
	if l.awaitTarget() {
		l.verify(l.recent(len(l.order)))
		l.verify(l.gaps())
	} else {
		l.report.Error = cmp.Or(l.report.Error, fmt.Sprintf("the target has not responded for %v", soakPatience))
	}
	r := &l.report
	r.Seconds = time.Since(r.Began).Seconds()
	r.Pets, r.Messages = len(l.order), len(l.texts)
	switch {
	case len(r.Findings) > 0:
		r.Outcome = NotConformant
	case r.Error != "" || r.Pets < 2:
		r.Outcome = Incomplete
	default:
		r.Outcome = Conformant
	}
	return r
}

// awaitTarget waits until the target serves a list, and reports whether it does.
func (l *load) awaitTarget() bool {
	for end := time.Now().Add(soakPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if l.send(probe.Get("/pets?limit=1")).Succeeded() {
			return true
		}
	}
	return false
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

// gaps returns the ids between those of the soak that no response had. If there
// are many, ids are not assigned one by one, and it returns none. A pet that was
// created twice may have one.
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

// verify gets the pets with these ids. Those that the soak has added must be there.
func (l *load) verify(ids []int64) {
	if !l.noGet {
		concurrently(len(ids), l.s.opts.Parallel, func(i int) { l.get(ids[i]) })
	}
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
	if served(x) {
		l.served = time.Now()
	} else {
		l.report.Unserved++
	}
	return x
}

// served reports whether x has a response that can be judged.
func served(x *probe.Exchange) bool { return x.Status != 0 && !x.Unavailable() }

// judge calls want, and adds a finding if it ends with a violation.
func (l *load) judge(x *probe.Exchange, want func(t *tester)) {
	if !served(x) || l.disturbed(x) {
		return
	}
	e := attempt(func() { want(&tester{ctx: l.ctx, s: l.s, check: l.check}) })
	if e != nil && e.verdict == Fail {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.report.add(x.Request.Operation(), e.message, newExchange(x, l.s.redact, failingBody))
	}
}

func (l *load) create(n newPet) {
	l.mu.Lock()
	l.sent[n.Name] = n
	l.mu.Unlock()
	x := l.send(probe.Post("/pets", n.json()))
	if !served(x) || l.disturbed(x) {
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
	path := fmt.Sprintf("/pets?limit=%d", limit)
	if status != "" {
		path += "&status=" + status
	}
	x := l.send(probe.Get(path))
	l.judge(x, func(t *tester) {
		t.wantStatus(x, 200, "a list is requested with a valid key")
		elements := readList(x)
		if len(elements) > limit {
			fail(x, "the list is too long: it has %d pets, and the limit is %d", len(elements), limit)
		}
		seen := make(map[int64]bool)
		for i, v := range elements {
			p, err := parsePet(v)
			switch {
			case err != nil:
				fail(x, "the list has an element that is not a Pet: %v%s", err, showElement(i, v))
			case status != "" && p.Status != status:
				fail(x, "the list has a pet with another status: want %s%s", status, showElement(i, v))
			case seen[p.ID]:
				fail(x, "two pets in the list have the same id: %d", p.ID)
			}
			seen[p.ID] = true
			l.wantShown(x, p)
		}
	})
}

// wantShown ends the judgement of x if it shows a pet that is not as it was sent,
// or that was shown otherwise before.
func (l *load) wantShown(x *probe.Exchange, p pet) {
	if err := l.shows(p); err != nil {
		fail(x, "%v", err)
	}
}

// shows records that a response has p. It returns an error if another one did not
// have it so.
func (l *load) shows(p pet) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent, ours := l.sent[p.Name]
	before, known := l.pets[p.ID]
	id, twice := l.ids[p.Name]
	switch {
	case known && before.Name != p.Name:
		return fmt.Errorf("two pets have the same id: %d was %q, and is %q", p.ID, before.Name, probe.Short(p.Name))
	case known:
		if diff := before.diff(p); diff != "" {
			return errors.New("a pet has changed: " + diff)
		}
		return nil
	case !ours:
		return nil
	case twice && id != p.ID:
		return fmt.Errorf("a pet was created twice: %q has the ids %d and %d", p.Name, id, p.ID)
	}
	want := pet{ID: p.ID, newPet: sent}
	want.Status = cmp.Or(want.Status, p.Status) // the contract leaves a default open
	if diff := want.diff(p); diff != "" {
		return errors.New("a pet is not as it was sent: " + diff)
	}
	l.pets[p.ID], l.ids[p.Name] = p, p.ID
	l.order = append(l.order, p.ID)
	return nil
}
