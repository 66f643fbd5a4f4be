package conformance

import (
	"context"
	"errors"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

// RunUntil is [Run], but ends before the next phase once a check of the clause fails.
func RunUntil(ctx context.Context, target Target, opts *Options, clause string) (*Report, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	cl, _ := FindClause(clause)
	s.beforePhase = func() {
		failed := func(j judgement) bool { return len(j.violations) > 0 }
		if slices.ContainsFunc(s.seen().judge(cl.Checks), failed) {
			s.stop(errors.New("the clause is violated"))
		}
	}
	return s.judgeTarget(ctx)
}

// SentExchange is an exchange of a run, with the IDs of the checks of the status that it
// violates.
type SentExchange struct {
	Exchange
	Violates []string
}

// Sent runs against the target and returns every exchange.
func Sent(ctx context.Context, target Target, opts *Options) ([]SentExchange, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	if _, err := s.judgeTarget(ctx); err != nil {
		return nil, err
	}
	violates := make(map[*probe.Exchange][]string)
	for _, j := range s.seen().judge(checks()) {
		for _, v := range j.violations {
			if j.check.basic == aboutStatus {
				violates[v.x.Exchange] = append(violates[v.x.Exchange], j.check.ID)
			}
		}
	}
	var sent []SentExchange
	for _, x := range s.client.Exchanges() {
		sent = append(sent, SentExchange{newExchange(x, s.redact), violates[x]})
	}
	return sent, nil
}

// Texts returns the texts that a run sends.
func Texts() []string { return (&sender{facts: facts{mark: markStart + "abcdef"}}).texts() }
