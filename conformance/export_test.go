package conformance

import (
	"context"
	"errors"
	"slices"
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

// Sent runs against the target and returns every exchange.
func Sent(ctx context.Context, target Target) ([]Exchange, error) {
	s, err := newSession(target, nil)
	if err != nil {
		return nil, err
	}
	if _, err := s.judgeTarget(ctx); err != nil {
		return nil, err
	}
	var sent []Exchange
	for _, x := range s.client.Exchanges() {
		sent = append(sent, newExchange(x, s.redact))
	}
	return sent, nil
}
