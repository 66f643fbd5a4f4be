// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is not judged. Each check belongs to a statement of
// the contract, or of an RFC. A failure comes with the exchange that proves it and a
// curl command to repeat it.
//
// [Run] judges a target with every check and returns a [Report], which package
// report writes as text, JSON or JUnit XML. Package conformancetest makes each
// check a subtest of go test. Command cmd/conformance needs no Go toolchain where it
// runs.
//
// A run first sends what is in a few tables, phase by phase (files stimuli.go and
// phases.go). All that it sends and receives is its history (history.go). Then every
// check judges every exchange to which it applies (files judge_*.go).
//
// A run assumes nothing about the state of the target: it may have any number of
// pets with any ids in any order, and other clients may use it meanwhile. A run
// adds pets with names that no other run uses, as many as it needs to test the
// limits of a list, and reports what it leaves behind, because the contract has
// no way to delete pets. If the state of the target does not allow a check to
// tell, for example because the store has too many pets for a list to show a new
// one, the check is inconclusive.
//
// The API key is sent to the target and nowhere else. Reports show [key] where the
// target echoes it as it is.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Run judges target with every check that opts selects. An error about the
// arguments wraps [ErrOptions]. Any other error says in one line why the target
// cannot be judged. If the target stops responding during the run, the
// report is incomplete.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	return s.judgeTarget(ctx)
}

// judgeTarget runs the session.
func (s *session) judgeTarget(ctx context.Context) (*Report, error) {
	defer s.client.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.ctx, s.stop = ctx, stop
	began := time.Now()
	if err := s.begin(); err != nil {
		return nil, errors.New(s.redact.Show(err.Error()))
	}
	s.run()
	h := s.seen()
	judgements := h.judge(checks())
	s.repeatProofs(h, judgements)
	return s.report(began, h, judgements), nil
}

// session is a run against one target.
type session struct {
	sender
	target Target
	redact probe.Redactor
	skip   map[string]bool   // the checks that are not selected, by ID
	known  map[string]string // why a check is expected to fail, by ID
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
	s := &session{target: target, skip: make(map[string]bool)}
	selected, err := Select(o.Run)
	if err != nil {
		return nil, err
	}
	for _, c := range checks() {
		s.skip[c.ID] = !slices.ContainsFunc(selected, func(o Check) bool { return o.ID == c.ID })
	}
	if s.known, err = knownFailures(o.Known); err != nil {
		return nil, err
	}
	s.facts = facts{mark: newMark(), url: target.URL, now: o.Now()}
	s.opts, s.beforePhase = o, func() {}
	s.category = s.anyCategory()
	s.client = probe.NewClient(probe.Config{
		URL: target.URL, MessagesURL: cmp.Or(target.MessagesURL, target.URL), Key: target.Key,
		Timeout: o.Timeout, Parallel: o.Parallel, Transport: o.Transport,
	})
	s.redact = probe.NewRedactor(target.Key)
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
	if err := s.findMessages(s.target.MessagesURL != ""); err != nil {
		return err
	}
	return s.checkOptions()
}

// violation is an exchange that violates a check.
type violation struct {
	x    *exchange
	pet  int64 // the id of a pet that is wrong; 0: none
	text string
}

// judgement is what a check says about a history.
type judgement struct {
	check      Check
	judged     int         // exchanges
	violations []violation // one for each exchange that violates it
	unserved   *exchange   // a request that could not be judged, as the target did not serve it; nil: there is none
	again      string      // see [Result.Again]
}

// judge returns what each of the checks says about h.
func (h *history) judge(checks []Check) []judgement {
	var all []judgement
	for _, c := range checks {
		j := judgement{check: c}
		for _, x := range h.everything(c) {
			if c.applies(x) {
				j.judged++
				if v, ok := c.judge(x); ok {
					j.violations = append(j.violations, v)
				}
			}
		}
		for _, x := range h.unserved {
			if c.applies(x) {
				j.unserved = x
			}
		}
		all = append(all, j)
	}
	return all
}

// everything returns the exchanges that c may judge.
func (h *history) everything(c Check) []*exchange {
	if c.attempts {
		return slices.Concat(h.all, h.unserved, h.repeated)
	}
	return h.all
}

// judge returns how x violates c, if it does.
func (c Check) judge(x *exchange) (violation, bool) {
	v := violation{x: x}
	if c.wrongPet != nil {
		v.pet, v.text = c.wrongPet(x)
	} else {
		v.text = c.wrong(x)
	}
	return v, v.text != ""
}

// maxAgain is how many proofs are sent once more.
const maxAgain = 12

// repeatProofs sends each proof once more, alone and on a connection of its own, and
// judges the response.
func (s *session) repeatProofs(h *history, all []judgement) {
	sent := 0
	for i := range all {
		j := &all[i]
		if len(j.violations) == 0 || sent == maxAgain || s.ctx.Err() != nil || s.skip[j.check.ID] {
			continue
		}
		sent++
		proof := j.violations[0].x
		r := proof.Request
		r.Fresh = true
		if r.Body != nil { // a target may refuse a name that it has
			r.Body = h.ours.ReplaceAllLiteral(r.Body, []byte(s.name()))
		}
		p := s.client.Send(s.ctx, r)
		s.confirm(p)
		h.learn(s.client.Exchanges())
		x := h.parsed[p]
		if x == nil || !j.check.applies(x) {
			continue
		}
		j.again = "no"
		if _, wrong := j.check.judge(x); wrong || x.Err != nil && proof.Err != nil {
			j.again = "yes"
		}
	}
}

// unavailable reports whether any target may send a status when it cannot serve
// requests.
func unavailable(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage
}
