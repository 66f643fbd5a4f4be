package conformance

import (
	"net/http"
)

// errorSource is where an operation's answers of one status come from.
type errorSource struct {
	id      string // 400, 401, 404
	status  int
	feature Feature
	writes  bool
	what    string

	// answers returns answers of that status.
	answers func(*probe) ([]*exchange, error)
}

func petErrors() []errorSource {
	return []errorSource{
		{"400", 400, FeaturePets, true, "to a body that is wrong", petErrors400},
		{"401", 401, FeaturePets, false, "to a request without a valid credential", petErrors401},
		{"404", 404, FeaturePets, false, "to an id that no pet has", petErrors404},
	}
}

// errorChecks are about the Error body (contract, sections 2.5 and 7) of
// every answer of 400, 401 and 404 that the contract names.
func errorChecks() []Check {
	var checks []Check
	for _, src := range petErrors() {
		checks = append(checks, src.checks("errors."+src.id+".")...)
	}
	return append(checks, Check{
		ID: "errors.no-5xx", Title: "no bad request gets 5xx",
		Clause: "server-errors", Level: Required, Feature: FeaturePets,
		Why:     "A 5xx tells the client that the server is broken and to try again.",
		Failure: "One of a set of strange queries, ids and, in a run that writes, bodies is answered with 5xx, or the connection is dropped.",
		stage:   stageMany, run: noServerErrors,
	})
}

// checks returns a check for each thing that the contract says of an Error.
func (src errorSource) checks(prefix string) []Check {
	part := func(id, clause, title, failure string, judge func(*exchange) error) Check {
		return Check{
			ID: prefix + id, Title: "the " + src.id + " " + src.what + " " + title,
			Clause: clause, Level: Required, Feature: src.feature, Writes: src.writes,
			Why:     "Clients read every error in the same way.",
			Failure: failure,
			run: func(p *probe) error {
				answers, err := src.answers(p)
				if err != nil {
					return err
				}
				for _, x := range answers {
					if err := judge(x); err != nil {
						return err
					}
				}
				if len(answers) == 0 {
					return undecidedf("no answer was a %d", src.status)
				}
				return nil
			},
		}
	}
	return []Check{
		part("media-type", "error-type", "is application/json",
			"Another Content-Type, or none.", (*exchange).isJSON),
		part("code", "error-code", "has a code",
			"The body is no JSON object, or its code is missing or no string.",
			func(x *exchange) error { return x.errorString("code") }),
		part("message", "error-message", "has a message",
			"The body is no JSON object, or its message is missing or no string.",
			func(x *exchange) error { return x.errorString("message") }),
		part("status", "error-status", "repeats its status",
			"The body is no JSON object, or its status is missing, no integer, or not the HTTP status.", (*exchange).errorStatus),
	}
}

func (x *exchange) errorBody() (object, error) {
	v, err := x.value()
	if err != nil {
		return nil, err
	}
	o, err := parseObject(v)
	if err != nil {
		return nil, violationf(x, "the body %v", err)
	}
	return o, nil
}

func (x *exchange) errorString(member string) error {
	o, err := x.errorBody()
	if err != nil {
		return err
	}
	if _, err := o.str(member); err != nil {
		return violationf(x, "the body is no Error: %v", err)
	}
	return nil
}

func (x *exchange) errorStatus() error {
	o, err := x.errorBody()
	if err != nil {
		return err
	}
	status, err := o.int64("status")
	if err != nil {
		return violationf(x, "the body is no Error: %v", err)
	}
	if status != int64(x.status) {
		return violationf(x, "the body's status is %d in an answer of %d", status, x.status)
	}
	return nil
}

// petErrors400 returns the 400s to all wrong bodies. A wrong body that gets
// another status is for its own check.
func petErrors400(p *probe) ([]*exchange, error) {
	var answers []*exchange
	for _, f := range petFaults() {
		_, x, err := p.refusal(f)
		if err == nil && x.status == http.StatusBadRequest {
			answers = append(answers, x)
		}
	}
	return answers, nil
}

func petErrors401(p *probe) ([]*exchange, error) {
	var answers []*exchange
	for _, op := range petOperations() {
		if op.writes && p.s.opts.ReadOnly {
			continue
		}
		answers = append(answers, p.denials(op)...)
	}
	return answers, nil
}

// denials returns op's 401s to all bad credentials.
func (p *probe) denials(op operation) []*exchange {
	var answers []*exchange
	for _, c := range badCredentials() {
		if d, err := p.denial(op, c); err == nil && d.x.status == http.StatusUnauthorized {
			answers = append(answers, d.x)
		}
	}
	return answers
}

func petErrors404(p *probe) ([]*exchange, error) {
	if err := p.stillThere(); err != nil {
		return nil, err
	}
	x, err := p.missing()
	if err != nil {
		return nil, err
	}
	if x.status != http.StatusNotFound {
		return nil, nil
	}
	return []*exchange{x}, nil
}
