package conformance

import (
	"context"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// SentExchange is an exchange of a run, with the IDs of the checks that it violates.
type SentExchange struct {
	*Proof
	Violates []string
}

// Sent runs against the target and returns every exchange.
func Sent(ctx context.Context, target Target, opts *Options) ([]SentExchange, error) {
	s, err := newSession(target, opts)
	if err != nil {
		return nil, err
	}
	s.judgeTarget(ctx)
	violates := make(map[*probe.Exchange][]string)
	for _, c := range Checks() {
		for _, v := range s.seen().judge(c).violations {
			violates[v.x.Exchange] = append(violates[v.x.Exchange], c.ID)
		}
	}
	var sent []SentExchange
	for _, x := range s.exchanges {
		sent = append(sent, SentExchange{newProof(x.Exchange, s.redact), violates[x.Exchange]})
	}
	return sent, nil
}

// Texts returns the texts that a run sends.
func Texts() []string {
	var all []string
	for _, list := range [][]string{words, texts, freeTexts} {
		for _, text := range list {
			all = append(all, facts{mark: markStart + "abcdef"}.fillText(text))
		}
	}
	return all
}

// At returns options with which it is that time for GET /pets/{petId}.
func At(t time.Time) Options { return Options{now: func() time.Time { return t }} }
