// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is not judged. Each check names the section of the
// contract, or of an RFC, that states it. A failure comes with the exchange that proves
// it and a curl command to repeat it.
//
// [Run] judges a target with every check and returns a [Report], which package
// report writes as text, JSON or JUnit XML. Package conformancetest makes each
// check a subtest of go test. Command cmd/conformance needs no Go toolchain where it
// runs.
//
// A run first sends what is in a few tables, phase by phase (files stimuli.go and
// phases.go). Each row of a table says what it asks for or what is wrong with it. All that
// a run sends and receives is its history (exchange.go and history.go). Then every check
// judges every exchange to which it applies (files judge_*.go).
//
// A run assumes nothing about the state of the target: it may have any number of
// pets with any ids in any order, and other clients may use it meanwhile. A run
// adds pets with names that no other run uses, as many as it needs to test the
// limits of a list, and reports what it leaves behind, because the contract has
// no way to delete pets. If the state of the target does not allow a check to
// tell, for example because the store has too many pets for a list to show a new
// one, the check is skipped.
//
// The API key is sent to the target and nowhere else. Reports show [key] where the
// target echoes it as it is.
package conformance

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Run judges target with every check that opts selects. Every error is about the
// arguments. If the target is not a petstore that can be judged, or stops responding, the
// report says so.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	return s.judgeTarget(ctx), nil
}

// judgeTarget runs the session.
func (s *session) judgeTarget(ctx context.Context) *Report {
	defer s.client.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.ctx, s.stop = ctx, stop
	began := time.Now()
	if err := s.begin(); err != nil {
		stop(err)
		return s.report(began, newHistory(s.facts, nil)) // what it responded is not that of a petstore
	}
	s.run()
	return s.report(began, s.seen())
}

// session is a run against one target.
type session struct {
	sender
	target Target
	redact probe.Redactor
}

// newSession returns a session that has sent nothing yet.
func newSession(target Target, opts *Options) (*session, error) {
	target, err := target.clean()
	if err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &session{target: target, redact: probe.NewRedactor(target.Key)}
	s.opts = o
	if s.selected, err = o.selected(); err != nil {
		return nil, err
	}
	s.facts = newFacts(newMark(), target.URL, o.now())
	if o.Category != nil {
		s.categories[*o.Category] = true
	}
	s.category = s.anyCategory()
	s.client = probe.NewClient(probe.Config{
		URL: target.URL, MessagesURL: cmp.Or(target.MessagesURL, target.URL), Key: target.Key,
		Timeout: o.Timeout, Transport: o.Transport, Ended: s.ended,
	})
	return s, nil
}

// newMark returns a mark that no other run has. It has only letters, as some targets
// want names to.
func newMark() string {
	mark := markStart
	for range 6 {
		mark += string(rune('a' + rand.IntN(26)))
	}
	return mark
}

// begin returns an error if the target cannot be judged.
func (s *session) begin() error {
	if err := s.findPetstore(); err != nil {
		return err
	}
	return s.findMessages(s.target.MessagesURL != "")
}

// violation is an exchange that violates a check.
type violation struct {
	x      *exchange
	before *exchange // see Check.wrongAfter
	text   string
}

// judgement is what a check says about a history.
type judgement struct {
	check      Check
	judged     int         // exchanges
	violations []violation // one for each exchange that violates it
	unserved   *exchange   // a request that could not be judged, as the target did not serve it; nil: there is none
}

// judge returns what a check says about h.
func (h *history) judge(c Check) judgement {
	j := judgement{check: c}
	exchanges := h.all
	if c.unserved {
		exchanges = slices.Concat(h.all, h.unserved)
	}
	for _, x := range exchanges {
		if !c.applies(x) {
			continue
		}
		j.judged++
		v := violation{x: x}
		if c.wrongAfter != nil {
			if v.before, v.text = c.wrongAfter(x); v.before != nil && !v.before.Sent.Before(x.Sent) {
				v.before = nil // x does not show what it did
			}
		} else {
			v.text = c.wrong(x)
		}
		if v.text != "" {
			j.violations = append(j.violations, v)
		}
	}
	for _, x := range h.unserved {
		if !x.Repeated && c.applies(x) {
			j.unserved = x
		}
	}
	return j
}
