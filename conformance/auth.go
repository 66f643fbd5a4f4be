package conformance

import (
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The credential (contract, section 5).

// operation is an operation of the contract, for the checks of its credential.
type operation struct {
	prefix string // of the IDs
	name   string
	writes bool

	// valid returns a request with the valid key that must succeed, and the
	// name of the pet that it adds.
	valid func(*tester) (probe.Request, string, error)

	// invalid returns a request with the valid key that must be refused.
	invalid func(*tester) (probe.Request, error)
}

var listOperation = operation{
	prefix: "auth.list.", name: "GET /pets",
	valid:   func(*tester) (probe.Request, string, error) { return probe.Get("/pets"), "", nil },
	invalid: func(*tester) (probe.Request, error) { return probe.Get("/pets?limit=0&status=lost"), nil },
}

var createOperation = operation{
	prefix: "auth.create.", name: "POST /pets", writes: true,
	valid: func(t *tester) (probe.Request, string, error) {
		n, err := t.newPet("available")
		return probe.Post("/pets", n.json()), n.Name, err
	},
	invalid: func(*tester) (probe.Request, error) { return probe.Post("/pets", `{"name":`), nil },
}

var getOperation = operation{
	prefix: "auth.get.", name: "GET /pets/{petId}",
	valid: func(t *tester) (probe.Request, string, error) {
		id, err := t.knownPet()
		if err == nil {
			err = t.wantNotRemoved()
		}
		return probe.Get(petPath(id)), "", err
	},
	invalid: func(t *tester) (probe.Request, error) { return probe.Get(t.missingPath()), t.wantNotRemoved() },
}

var submitOperation = operation{
	prefix: "messages.auth.", name: "POST /messages", writes: true,
	valid: func(t *tester) (probe.Request, string, error) {
		return probe.PostMessage(messageBody(t.name())), "", nil
	},
	invalid: func(*tester) (probe.Request, error) { return probe.PostMessage(`{"message":`), nil },
}

// credentialChecks returns the checks that op refuses each bad credential.
func credentialChecks(op operation) []Check {
	var checks []Check
	for _, c := range probe.BadCredentials() {
		checks = append(checks, Check{
			ID: op.prefix + c.ID, Title: op.name + " with " + c.What + " gets 401",
			Writes:  op.writes,
			Why:     "Without a valid key there is no access.",
			Failure: "Another status than 401.",
			run: func(t *tester) error {
				r, err := t.sendBadCredential(op, c)
				if err != nil {
					return err
				}
				return t.wantStatus(r.x, 401, "the credential is "+c.What)
			},
		})
	}
	return checks
}

// credentialFirstChecks returns the checks that each operation checks the
// credential before anything else.
func credentialFirstChecks() []Check {
	var checks []Check
	for _, op := range []operation{listOperation, createOperation, getOperation, submitOperation} {
		checks = append(checks, Check{
			ID: op.prefix + "first", Title: op.name + " without a credential gets 401, even if the request is wrong",
			Writes:  op.writes,
			Why:     "Without a valid key a client must not learn what is in the store or what a request looks like.",
			Failure: "A wrong request without a credential gets another status than 401.",
			run: func(t *tester) error {
				r, err := op.invalid(t)
				if err != nil {
					return err
				}
				x, err := t.do(r.With(probe.Credential{}))
				if err != nil {
					return err
				}
				return t.wantStatus(x, 401, "there is no credential")
			},
		})
	}
	return checks
}

// sendBadCredential sends a request with a bad credential, once for all checks.
func (t *tester) sendBadCredential(op operation, c probe.Credential) (refusal, error) {
	return share(t, op.prefix+c.ID, func(t *tester) (refusal, error) {
		if !c.Differs(t.s.target.Key) {
			return refusal{}, undecidedf("the key has no letters to change")
		}
		r, name, err := op.valid(t)
		if err != nil {
			return refusal{}, err
		}
		x, err := t.do(r.With(c))
		return refusal{x, name}, err
	})
}

// unauthorized returns the 401 responses of op to bad credentials. The checks of
// the credentials judge other responses.
func (t *tester) unauthorized(op operation) []refusal {
	var refusals []refusal
	for _, c := range probe.BadCredentials() {
		if r, err := t.sendBadCredential(op, c); err == nil && r.x.Status == http.StatusUnauthorized {
			refusals = append(refusals, r)
		}
	}
	return refusals
}

var (
	authChallenge    = challengeCheck(listOperation, "auth.challenge", "a 401 has a challenge for a bearer token")
	messageChallenge = challengeCheck(submitOperation, "messages.auth.challenge", "a 401 for a message has a challenge for a bearer token")
)

func challengeCheck(op operation, id, title string) Check {
	return Check{
		ID: id, Title: title, Writes: op.writes,
		Why:     "Generic clients learn from it how to authenticate.",
		Failure: "A 401 without WWW-Authenticate, or with one that does not have the scheme Bearer.",
		run: func(t *tester) error {
			for _, r := range t.unauthorized(op) {
				challenges := r.x.Header.Values("WWW-Authenticate")
				if len(challenges) == 0 {
					return violationf(r.x, "the 401 has no WWW-Authenticate")
				}
				if !slices.ContainsFunc(challenges, func(c string) bool { return strings.Contains(strings.ToLower(c), "bearer") }) {
					return violationf(r.x, "the WWW-Authenticate of the 401 is %q, want the scheme Bearer", challenges[0])
				}
			}
			return nil
		},
	}
}

var (
	authSchemeCase    = schemeCheck("auth.scheme-case", "the scheme of the credential is case-insensitive", listOperation)
	messageSchemeCase = schemeCheck("messages.auth.scheme-case", "the scheme of the credential of a message is case-insensitive", submitOperation)
)

func schemeCheck(id, title string, op operation) Check {
	return Check{
		ID: id, Title: title, Writes: op.writes,
		Why:     "Some clients write bearer.",
		Failure: "The valid key after bearer in lower case is refused.",
		run: func(t *tester) error {
			r, _, err := op.valid(t)
			if err != nil {
				return err
			}
			x, err := t.do(r.With(probe.LowerScheme()))
			if err == nil && !x.Succeeded() {
				err = violationf(x, "the valid key after %q gets %s", "bearer", x.StatusLine())
			}
			return err
		},
	}
}
