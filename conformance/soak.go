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

	// Restart restarts the target. It must return within a minute, and may return
	// before the target responds again. Nil: the target is not restarted.
	Restart func(context.Context) error

	// Every is the time between two restarts. Zero: 30 seconds.
	Every time.Duration
}

const (
	soakPatience = time.Minute     // how long a target may fail to respond
	soakWindow   = 3 * time.Second // how long what was sent is judged together, without restarts
	soakClients  = 8
	soakPets     = 1000 // how many of the newest pets a soak gets after each window
)

// Soak sends a mixed load of valid requests to target from eight clients, and judges it
// in windows of a few seconds with the checks that opts selects. After each window, and
// each restart, it gets the newest thousand of its pets: none may be lost, changed or
// created twice. A creation without a response adds one pet or none.
//
// Soak ends after soak.For, or when ctx is done. Errors are as in [Run]. The report
// is incomplete if the target could not be restarted or stopped responding.
func Soak(ctx context.Context, target Target, opts *Options, soak SoakOptions) (*Report, error) {
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
	var stop context.CancelCauseFunc
	s.ctx, stop = context.WithCancelCause(context.WithoutCancel(ctx)) // after ctx is done, the pets are still got
	defer stop(nil)
	s.stop = stop
	began := time.Now()
	if err := s.begin(target.MessagesURL != ""); err != nil {
		return nil, errors.New(s.redact.Show(err.Error()))
	}
	if s.first(); len(s.seen().creations()) == 0 {
		return nil, errors.New("the target adds no pet: conformance run says why")
	}
	s.restarts = true
	l := &soaking{session: s}
	l.run(ctx, soak)
	r := s.report(began, s.seen(), slices.DeleteFunc(l.total, func(j judgement) bool { return j.judged == 0 }))
	r.Restarts = l.restarted
	return r, nil
}

// soaking is a soak under way.
type soaking struct {
	*session
	total     []judgement
	restarted int
}

// run sends windows of requests until ctx is done or the time is over.
func (l *soaking) run(ctx context.Context, soak SoakOptions) {
	ctx, cancel := context.WithTimeout(ctx, soak.For)
	defer cancel()
	restart := time.Now().Add(soak.Every)
	for ctx.Err() == nil && l.ctx.Err() == nil {
		due := soak.Restart != nil && time.Now().Add(soakWindow).After(restart)
		window, end := context.WithTimeout(ctx, soakWindow)
		var clients sync.WaitGroup
		for range soakClients {
			clients.Go(func() { l.load(window) })
		}
		if due && wait(window, time.Until(restart)) {
			if err := l.restart(soak.Restart); err != nil {
				l.stop(err)
			}
			restart = time.Now().Add(soak.Every)
		}
		clients.Wait()
		end()
		l.judgeWindow()
	}
}

// load sends requests of one client until ctx is done.
func (l *soaking) load(ctx context.Context) {
	pets := l.history.creations() // of the windows before
	for ctx.Err() == nil {
		status := append(statuses(), "")[rand.IntN(4)]
		r := probe.Get(listQuery{status, []int{1, 5, 20, 100}[rand.IntN(4)]}.path())
		switch n := rand.IntN(10); {
		case n < 3:
			r = probe.Post("/pets", l.pet(status).json())
		case n < 4 && l.messages:
			r = probe.PostMessage(messageBody(l.name()))
		case n < 7:
			r = probe.Get(petPath(pets[rand.IntN(len(pets))].pet.ID))
		}
		if r.Method == "GET" {
			l.client.Do(l.ctx, r)
		} else {
			l.client.Send(l.ctx, r) // once, whatever happens to it
		}
		wait(ctx, time.Duration(rand.IntN(100))*time.Millisecond)
	}
}

// restart restarts the target.
func (l *soaking) restart(restart func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(l.ctx, soakPatience)
	defer cancel()
	if err := restart(ctx); err != nil {
		return fmt.Errorf("the target was not restarted: %w", err)
	}
	l.restarted++
	return nil
}

// judgeWindow gets the pets, and judges what was sent since the window before. It forgets
// everything but the creations of the newest pets.
func (l *soaking) judgeWindow() {
	for began := time.Now(); !l.client.Send(l.ctx, probe.Get("/pets?limit=1")).Served(); wait(l.ctx, 50*time.Millisecond) {
		if time.Since(began) > soakPatience {
			l.stop(fmt.Errorf("the target has not responded for %v", soakPatience))
		}
		if l.ctx.Err() != nil {
			return
		}
	}
	pets := l.seen().creations()
	pets = pets[max(0, len(pets)-soakPets):]
	l.each(len(pets), func(i int) { l.client.Do(l.ctx, probe.Get(petPath(pets[i].pet.ID))) })
	l.add(l.judge(l.seen()))

	sent := l.client.Take()
	l.requests += len(sent)
	l.left.add(sent)
	l.earlier = slices.DeleteFunc(append(l.earlier, sent...), func(x *probe.Exchange) bool { return x.Request.Operation() != opCreate })
	l.earlier = l.earlier[max(0, len(l.earlier)-2*soakPets):]
	l.history = nil
	l.seen()
}

// maxViolations is how many violations of a check a soak remembers.
const maxViolations = 100

// add adds what the checks say about a window. While the target is restarted it may
// lose requests.
func (l *soaking) add(window []judgement) {
	window = slices.DeleteFunc(window, func(j judgement) bool { return j.check.attempts })
	if l.total == nil {
		l.total = window
		return
	}
	for i, j := range window {
		t := &l.total[i]
		t.judged += j.judged
		t.wrong += j.wrong
		t.violations = append(t.violations, j.violations...)
		t.violations = slices.Clone(t.violations[:min(len(t.violations), maxViolations)])
	}
}
