package conformance

import (
	"fmt"
	"net/http"
	"strings"
)

// operation is an operation of the contract as the credential checks ask for
// it.
type operation struct {
	id      string
	name    string // in titles
	clause  string
	feature Feature
	writes  bool

	// valid returns a request that only lacks a credential, and the name of
	// the pet that it would add.
	valid func(*probe) (request, string, error)

	// faulty returns a request in which something else is wrong as well.
	faulty func(*probe) (request, error)
}

func petOperations() []operation {
	return []operation{
		{
			id: "list", name: "GET /pets", clause: "key-list", feature: FeaturePets,
			valid:  func(*probe) (request, string, error) { return get("/pets"), "", nil },
			faulty: func(*probe) (request, error) { return get("/pets?limit=0&status=lost"), nil },
		},
		{
			id: "create", name: "POST /pets", clause: "key-create", feature: FeaturePets, writes: true,
			valid: func(p *probe) (request, string, error) {
				category, err := p.category()
				n := newPet{p.name(), category, "available"}
				return post("/pets", n.json()), n.Name, err
			},
			faulty: func(*probe) (request, error) { return post("/pets", `{"name":`), nil },
		},
		{
			id: "get", name: "GET /pets/{petId}", clause: "key-get", feature: FeaturePets,
			valid: func(p *probe) (request, string, error) {
				id, err := p.aPet()
				if err == nil {
					err = p.stillThere()
				}
				return get(petPath(id)), "", err
			},
			faulty: func(p *probe) (request, error) {
				return get(petPath(1<<62 | p.random().Int64N(1<<62))), p.stillThere()
			},
		},
	}
}

func messageOperation() operation {
	return operation{
		id: "submit", name: "POST /messages", clause: "key-messages", feature: FeatureMessages, writes: true,
		valid:  func(p *probe) (request, string, error) { return postMessage(messageBody(p.name())), "", nil },
		faulty: func(*probe) (request, error) { return postMessage(`{"message":`), nil },
	}
}

// authChecks are about the credential (contract, section 5).
func authChecks() []Check {
	var checks []Check
	for _, op := range petOperations() {
		checks = append(checks, op.checks("auth."+op.id+".")...)
	}
	return append(checks,
		create("unauthorized", "key-create", "a creation without a valid credential adds nothing",
			"Anyone could fill the store.",
			"A pet whose creation was answered with 401 is in the store. Inconclusive where the store holds more than a list can show.", authStored),
		Check{
			ID: "auth.challenge", Title: "a 401 challenges for a bearer token",
			Clause: "rfc-challenge", Level: Recommended, Feature: FeaturePets,
			Why:     "Generic clients learn from it how to authenticate.",
			Failure: "A 401 without WWW-Authenticate, or with one that does not offer the scheme Bearer.",
			run:     func(p *probe) error { return p.challenge(petOperations()[0]) },
		},
		Check{
			ID: "auth.scheme-case", Title: "the scheme is taken in any case",
			Clause: "rfc-scheme", Level: Recommended, Feature: FeaturePets,
			Why:     "Some clients write bearer.",
			Failure: "The valid key after bearer in lower case is refused.",
			run:     func(p *probe) error { return p.schemeCase(get("/pets?limit=1")) },
		},
		Check{
			ID: "auth.open.spelling", Title: "what odd spellings of a valid credential get",
			Clause: "open-key", Level: Observed, Feature: FeaturePets,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			run:     authSpelling,
		},
	)
}

// checks returns the checks of op's credential: each kind of bad one, and
// that the credential comes before all else.
func (op operation) checks(prefix string) []Check {
	var checks []Check
	for _, c := range badCredentials() {
		checks = append(checks, Check{
			ID: prefix + c.id, Title: op.name + " with " + c.what + " gets 401",
			Clause: op.clause, Level: Required, Feature: op.feature, Writes: op.writes,
			Why:     "Whoever has no valid key must stay outside.",
			Failure: "The request is answered with another status than 401.",
			run: func(p *probe) error {
				d, err := p.denial(op, c)
				if err != nil {
					return err
				}
				return p.want(d.x, 401, "the credential is "+c.what)
			},
		})
	}
	return append(checks, Check{
		ID: prefix + "first", Title: op.name + " asks for the credential before all else",
		Clause: "key-first", Level: Required, Feature: op.feature, Writes: op.writes,
		Why:     "Whoever has no valid key must not learn what is in the store, nor what a request should look like.",
		Failure: "A request without a credential, in which something else is wrong as well, is answered with another status than 401.",
		run: func(p *probe) error {
			r, err := op.faulty(p)
			if err != nil {
				return err
			}
			x, err := p.do(r.as(badCredentials()[0]))
			if err != nil {
				return err
			}
			return p.want(x, 401, "there is no credential")
		},
	})
}

// denied is the answer to a request with a bad credential, and the name of
// the pet that it asked to add.
type denied struct {
	x    *exchange
	name string
}

// denial sends a request with a bad credential, once for all checks that look
// at the answer.
func (p *probe) denial(op operation, c credential) (denied, error) {
	return once(p, "auth."+op.id+"."+c.id, func(p *probe) (denied, error) {
		if !c.possible(p.s.target.Key) {
			return denied{}, undecidedf("for this key it is the valid one")
		}
		r, name, err := op.valid(p)
		if err != nil {
			return denied{}, err
		}
		x, err := p.do(r.as(c))
		return denied{x, name}, err
	})
}

func authStored(p *probe) error {
	unauthorized := make(map[string]*exchange)
	op := petOperations()[1]
	for _, c := range badCredentials() {
		if d, err := p.denial(op, c); err == nil && d.x.status == http.StatusUnauthorized {
			unauthorized[d.name] = d.x
		}
	}
	return p.notStored(unauthorized)
}

func (p *probe) challenge(op operation) error {
	for _, c := range badCredentials() {
		d, err := p.denial(op, c)
		if err != nil || d.x.status != http.StatusUnauthorized {
			continue // for the check of that credential
		}
		offered := strings.ToLower(strings.Join(d.x.header.Values("WWW-Authenticate"), ","))
		if offered == "" {
			return violationf(d.x, "the 401 has no WWW-Authenticate")
		}
		if !strings.Contains(offered, "bearer") {
			return violationf(d.x, "the 401's WWW-Authenticate does not offer the scheme Bearer: %q", d.x.header.Get("WWW-Authenticate"))
		}
	}
	return nil
}

func (p *probe) schemeCase(r request) error {
	x, err := p.do(r.as(lowerScheme()))
	if err != nil {
		return err
	}
	if x.status < 200 || x.status > 299 {
		return violationf(x, "the valid key after %q gets %s", "bearer", x.statusLine())
	}
	return nil
}

func authSpelling(p *probe) error {
	for _, c := range oddCredentials() {
		x, err := p.do(get("/pets?limit=1").as(c))
		if err := p.record(fmt.Sprintf("%s (%s)", c.what, c.shown), x, err); err != nil {
			return err
		}
	}
	return nil
}
