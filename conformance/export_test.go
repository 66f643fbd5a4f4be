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
	j, err := newJob(target, opts)
	if err != nil {
		return nil, err
	}
	record := j.send(ctx)
	h := newHistory(record, j.target.URL, time.Now())
	violates := make(map[*probe.Exchange][]string)
	for _, c := range Checks() {
		for _, v := range h.judge(c).violations {
			violates[v.x.Exchange] = append(violates[v.x.Exchange], c.ID)
		}
	}
	var sent []SentExchange
	for _, x := range record.Exchanges {
		sent = append(sent, SentExchange{newProof(x, j.redact), violates[x]})
	}
	return sent, nil
}

// At returns options with which it is that time for GET /pets/{petId}.
func At(t time.Time) Options { return Options{now: func() time.Time { return t }} }

// Until returns o with a run that ends after the phase in which the check with that ID fails.
func Until(o Options, check string) Options {
	o.until = check
	return o
}

// JUnitSuites is the root of a report as JUnit XML.
type JUnitSuites = junitSuites
