package conformance

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
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

// soakPatience is how long a target may fail to respond, after a restart or
// otherwise, before a soak ends.
const soakPatience = time.Minute

// Soak sends a mixed load of valid requests to target from opts.Parallel clients,
// and checks that nothing is lost, changed or created twice:
//
//   - A pet stays as it is once its creation was acknowledged or a list has shown it.
//   - A creation without a response adds one pet or none.
//   - An id never belongs to two pets or to two messages.
//   - A list is what the contract says, at any time.
//
// A client waits up to 100 ms between two requests. At the end, or when ctx is done,
// Soak gets every pet for the last time. Options that select checks have no effect.
// Errors are as in [Run].
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

// SoakFormat names the format of a soak's report in JSON. It changes as
// [ReportFormat] does.
const SoakFormat = "petstore-soak/1"

// SoakReport is the result of [Soak].
type SoakReport struct {
	Format string `json:"format"`

	// Outcome is [NotConformant] if there is a finding, and [Incomplete] if the
	// target could not be restarted or stopped responding.
	Outcome Outcome `json:"outcome"`

	URL         string    `json:"url"`
	MessagesURL string    `json:"messagesUrl,omitzero"`
	Began       time.Time `json:"began"`
	Seconds     float64   `json:"seconds"`
	Mark        string    `json:"mark"` // in every name and text of the soak

	Sent     int `json:"sent"`     // requests
	Unserved int `json:"unserved"` // requests without a response, or with 429, 502, 503, 504 or 507
	Pets     int `json:"pets"`     // those acknowledged or shown
	Messages int `json:"messages"` // those acknowledged
	Unknown  int `json:"unknown"`  // creations without a response; some may have added a pet
	Restarts int `json:"restarts"`

	// Error says why the soak ended early.
	Error string `json:"error,omitzero"`

	Findings []SoakFinding `json:"findings,omitzero"`
}

// SoakFinding is a violation of the contract.
type SoakFinding struct {
	Message  string   `json:"message"`  // of the first time
	Exchange Exchange `json:"exchange"` // shows what the message says
	Times    int      `json:"times"`

	kind string
}

// add adds a finding, or counts one of the same kind.
func (r *SoakReport) add(kind, message string, x Exchange) {
	for i := range r.Findings {
		if r.Findings[i].kind == kind {
			r.Findings[i].Times++
			return
		}
	}
	r.Findings = append(r.Findings, SoakFinding{message, x, 1, kind})
}

// String returns r as text: the findings, then what was sent, then the outcome.
func (r *SoakReport) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "FAIL %s (%s)\n\n%s\n\n%s\n", f.Message, probe.Plural(f.Times, "time"), f.Exchange.Curl, firstLines(f.Exchange.String(), 40))
	}
	if r.Error != "" {
		fmt.Fprintf(&b, "ERROR %s\n\n", r.Error)
	}
	fmt.Fprintf(&b, "%s, %.1f s, %s, %s, %d not served\n", r.URL, r.Seconds, probe.Plural(r.Sent, "request"), probe.Plural(r.Restarts, "restart"), r.Unserved)
	fmt.Fprintf(&b, "left behind: %s and %s, named %s…; %s without a response\n",
		probe.Plural(r.Pets, "pet"), probe.Plural(r.Messages, "message"), r.Mark, probe.Plural(r.Unknown, "creation"))
	fmt.Fprintf(&b, "%s: %s\n", r.Outcome, probe.Plural(len(r.Findings), "finding"))
	return b.String()
}

// begin adds the first pet.
func (l *load) begin() {
	l.first = l.firstPet()
	l.noGet = l.getRemoved()
	l.sent[l.first.Name] = l.first.newPet
	l.wantShown(nil, l.first)
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

// restart restarts the target under load. Then it gets the pets that the soak saw
// last.
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

// awaitTarget waits until the target serves a list, and reports whether it does.
func (l *load) awaitTarget() bool {
	for end := time.Now().Add(soakPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if l.send(probe.Get("/pets?limit=1")).Succeeded() {
			return true
		}
	}
	return false
}

// wait waits for d. It returns false if ctx is done first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// finish gets every pet for the last time and returns the report.
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
