package conformance

import (
	"errors"
	"fmt"
	"slices"
)

// listOpenChecks record what a list does where the contract says nothing.
func listOpenChecks() []Check {
	observe := func(id, clause, title string, run func(*probe) error) Check {
		return Check{
			ID: "pets.list." + id, Title: title, Clause: clause, Level: Observed, Feature: FeaturePets,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			stage:   stageMany, run: run,
		}
	}
	return []Check{
		observe("open.limit", "open-limit", "what a limit out of range or malformed gets", queries(
			"limit=0", "limit=-1", "limit=101", "limit=9223372036854775808", "limit=abc", "limit=1.5", "limit=1e1", "limit=%2B5", "limit=007", "limit=")),
		observe("open.status", "open-filter", "what a status outside the enumeration gets", queries(
			"status=gone", "status=AVAILABLE", "status=%20sold", "status=")),
		observe("open.query", "open-query", "what unknown and repeated parameters get", queries(
			"color=red", "limit=1&limit=2", "status=sold&status=pending", "LIMIT=1", "limit=%zz")),
		observe("open.order", "open-order", "the order of a list", listOrder),
		observe("open.pages", "open-pages", "whether a list leads to a further page", listPages),
	}
}

// queries returns a check that records what GET /pets makes of each query.
func queries(list ...string) func(*probe) error {
	return func(p *probe) error {
		for _, q := range list {
			x, err := p.do(get("/pets?" + q))
			if err := p.record("?"+q, x, err); err != nil {
				return err
			}
		}
		return nil
	}
}

// record notes what became of a request. One that the target drops or does
// not answer in time is recorded like any other; only a target that cannot be
// asked ends the check.
func (p *probe) record(what string, x *exchange, err error) error {
	if errors.As(err, new(*unavailable)) && !isTimeout(x.err) {
		return err
	}
	p.note(what, "%s", x.inShort())
	return nil
}

// inShort says what an answer is, for a record.
func (x *exchange) inShort() string {
	if x.status == 0 {
		return "no answer"
	}
	s := x.statusLine()
	v, err := parse(x.body)
	switch {
	case len(x.body) == 0:
		return s + ", no body"
	case err != nil:
		return s + ", a body that is no JSON"
	case v.Kind() == '[':
		elements, _ := parseArray(v)
		return fmt.Sprintf("%s, %d pets", s, len(elements))
	}
	if o, err := parseObject(v); err == nil {
		if code, err := o.str("code"); err == nil && x.status >= 400 {
			return s + ", code " + short(code)
		}
	}
	return s
}

func listOrder(p *probe) error {
	l, err := p.listing("")
	if err != nil {
		return err
	}
	ids := make([]int64, len(l.pets))
	for i, found := range l.pets {
		ids[i] = found.ID
	}
	desc := slices.Clone(ids)
	slices.Reverse(desc)
	switch {
	case len(ids) < 2:
		return undecidedf("there are too few pets to tell")
	case slices.IsSorted(ids):
		p.note("order", "by id, ascending")
	case slices.IsSorted(desc):
		p.note("order", "by id, descending")
	default:
		p.note("order", "not by id")
	}
	return nil
}

func listPages(p *probe) error {
	x, err := p.aList("?limit=1")
	if err != nil {
		return err
	}
	p.note("Link", "%s", orAbsent(x.header.Get("Link")))
	return nil
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}
