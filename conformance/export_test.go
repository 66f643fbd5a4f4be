package conformance

import (
	"context"
	"sync"
	"time"
)

// SentExchange is an exchange of a run, with the IDs of the checks that it violates.
type SentExchange struct {
	*Proof
	Violates []string
}

// Sent runs against the target and returns every exchange.
func Sent(ctx context.Context, target Target, opts *Options) ([]SentExchange, error) {
	r, err := newRun(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []*exchange
	r.opts.record = func(x *exchange) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, x)
	}
	r.playScenarios()
	violates := make(map[*exchange][]string)
	for _, c := range Checks() {
		for _, v := range r.tallies[c.ID].violations {
			violates[v.x] = append(violates[v.x], c.ID)
		}
	}
	var sent []SentExchange
	for _, x := range all {
		sent = append(sent, SentExchange{r.proof(x), violates[x]})
	}
	return sent, nil
}

// Texts returns the texts that a run with that mark sends.
func Texts(mark string) []string {
	var all []string
	for _, table := range [][]string{texts, words} {
		for _, text := range table {
			all = append(all, fillText(text, mark))
		}
	}
	return all
}

// At returns options with which it is that time for GET /pets/{petId}.
func At(t time.Time) Options { return Options{now: func() time.Time { return t }} }

// Until returns o with a run that ends after the scenario in which the check with that ID fails.
func Until(o Options, check string) Options {
	o.until = check
	return o
}

// JUnitSuites is the root of a report as JUnit XML.
type JUnitSuites = junitSuites
