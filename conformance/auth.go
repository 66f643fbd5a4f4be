package conformance

import (
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The credential (contract, section 5).

// operation is an operation of the contract, for the checks of its credential and
// of its faults.
type operation struct {
	name      string
	keyClause string // the clause of the checks of its credential
	keyIDs    string // the start of the IDs of these checks
	schemeIDs string // the start of the IDs of the checks of the scheme Bearer; "": it has none
	writes    bool

	// valid returns a request with the valid key that must succeed, and invalid
	// one that must be refused.
	valid, invalid func(*tester) probe.Request

	// request returns a request with that body, as in [fault].
	request func(t *tester, body string) probe.Request

	faults     []fault
	faultIDs   string // the start of the IDs of the checks of its faults
	faultTitle string // the start of their titles
	adds       string // what it adds
}

var listOperation = operation{
	name: "GET /pets", keyClause: "key-list", keyIDs: "auth.list.", schemeIDs: "auth.",
	valid:   func(*tester) probe.Request { return probe.Get("/pets") },
	invalid: func(*tester) probe.Request { return probe.Get("/pets?limit=0&status=lost") },
}

var createOperation = operation{
	name: "POST /pets", keyClause: "key-create", keyIDs: "auth.create.", writes: true,
	valid: func(t *tester) probe.Request {
		return petRequest(t, `{"name":$N,"categoryId":$C,"status":"available"}`)
	},
	invalid: func(*tester) probe.Request { return probe.Post("/pets", `{"name":`) },
	request: petRequest, faults: petFaults, faultIDs: "pets.create.400.", faultTitle: "a body ", adds: "a pet",
}

var getOperation = operation{
	name: "GET /pets/{petId}", keyClause: "key-get", keyIDs: "auth.get.",
	valid: func(t *tester) probe.Request {
		id := t.knownPet()
		t.wantNotRemoved()
		return probe.Get(petPath(id))
	},
	invalid: func(t *tester) probe.Request {
		t.wantNotRemoved()
		return probe.Get(t.missingPath())
	},
}

var submitOperation = operation{
	name: "POST /messages", keyClause: "key-messages", keyIDs: "messages.auth.", schemeIDs: "messages.auth.", writes: true,
	valid:   func(t *tester) probe.Request { return messageRequest(t, `{"message":$N}`) },
	invalid: func(*tester) probe.Request { return probe.PostMessage(`{"message":`) },
	request: messageRequest, faults: messageFaults, faultIDs: "messages.400.", faultTitle: "a message in a body ", adds: "a message",
}

// credentialChecks returns the checks of the credential of each operation: that
// it refuses every bad one before it checks anything else, and what the RFCs say.
func credentialChecks() []Check {
	var checks []Check
	for _, op := range []operation{listOperation, createOperation, getOperation, submitOperation} {
		for _, c := range probe.BadCredentials() {
			checks = append(checks, Check{
				ID: op.keyIDs + c.ID, Clause: op.keyClause, Title: op.name + " with " + c.What + " gets 401", Writes: op.writes,
				Why:     "Without a valid key there is no access.",
				Failure: "Another status than 401.",
				run:     func(t *tester) { t.wantStatus(t.sendBadCredential(op, c), 401, "the request has %s", c.What) },
				every:   unauthorizedRule(op, c, true),
			})
		}
		first := "key-first"
		if op.writes { // the contract does not say whether 400 or 401 comes first
			first = "key-before-body"
		}
		checks = append(checks, Check{
			ID: op.keyIDs + "first", Clause: first, Title: op.name + " without a credential gets 401, even if the request is wrong too", Writes: op.writes,
			Why:     "Without a valid key a client must not learn what is in the store or what a request looks like.",
			Failure: "A wrong request without a credential gets a status other than 401.",
			run: func(t *tester) {
				t.wantStatus(t.do(op.invalid(t).With(probe.Credential{})), 401, "the request has no credential")
			},
			every: unauthorizedRule(op, probe.Credential{What: "no credential"}, false),
		})
		checks = append(checks, Check{
			ID: op.keyIDs + "not-ascii", Clause: op.keyClause, Title: op.name + " with " + probe.NotASCII().What + " gets 401", Writes: op.writes,
			Why:     "A comparison of keys that expects ASCII may end with an error, or find them equal.",
			Failure: "A status that is not 4xx. Another 4xx than 401 is not judged: HTTP servers may refuse such a field before they look at it.",
			run: func(t *tester) {
				if x := t.do(op.valid(t).With(probe.NotASCII())); !x.Refused() {
					t.wrongStatus(x, "401", "the request has %s", probe.NotASCII().What)
				}
			},
		})
		if op.schemeIDs != "" {
			checks = append(checks, challengeCheck(op), schemeCheck(op))
		}
	}
	return checks
}

// unauthorizedRule returns the rule that requests to op with the bad credential c get
// 401. valid says whether it is for requests that are valid apart from that.
func unauthorizedRule(op operation, c probe.Credential, valid bool) *rule {
	what := "requests with this credential"
	if !c.Sent() {
		what = "requests without a credential"
	}
	if !valid {
		what = "wrong " + what
	}
	return &rule{
		what: what, mayBeIdle: true,
		applies: func(x *evidence) bool {
			sent := x.Request.Credential
			same := c.Sent() && sent.ID == c.ID || !c.Sent() && !sent.Sent()
			return same && x.op == op.name && x.asks() == valid && !x.removed()
		},
		want: func(x *evidence) {
			if x.Status != http.StatusUnauthorized {
				failStatus(x.Exchange, "the request has "+c.What, "401")
			}
		},
	}
}

// sendBadCredential sends a request with a bad credential, once for all checks.
func (t *tester) sendBadCredential(op operation, c probe.Credential) *probe.Exchange {
	return share(t, op.keyIDs+c.ID, func(t *tester) *probe.Exchange {
		if !c.Differs(t.s.target.Key) {
			inconclusive("the key does not change: it has no letters")
		}
		return t.do(op.valid(t).With(c))
	})
}

// unauthorized returns the 401 responses of op to bad credentials. The checks of
// the credentials judge other responses.
func (t *tester) unauthorized(op operation) []*probe.Exchange {
	var responses []*probe.Exchange
	for _, c := range probe.BadCredentials() {
		attempt(func() {
			if x := t.sendBadCredential(op, c); x.Status == http.StatusUnauthorized {
				responses = append(responses, x)
			}
		})
	}
	return responses
}

func challengeCheck(op operation) Check {
	return Check{
		ID: op.schemeIDs + "challenge", Clause: "rfc-challenge", Title: "a 401 of " + op.name + " has a challenge for a bearer token", Writes: op.writes,
		Why:     "Generic clients learn from it how to authenticate.",
		Failure: "A 401 without WWW-Authenticate, or with one that does not have the scheme Bearer.",
		run: func(t *tester) {
			for _, x := range t.unauthorized(op) {
				challenges := x.Header.Values("WWW-Authenticate")
				if len(challenges) == 0 {
					fail(x, "the 401 has no WWW-Authenticate")
				}
				if !strings.Contains(strings.ToLower(strings.Join(challenges, ",")), "bearer") {
					fail(x, "the WWW-Authenticate of the 401 is %q, want the scheme Bearer", challenges[0])
				}
			}
		},
	}
}

func schemeCheck(op operation) Check {
	return Check{
		ID: op.schemeIDs + "scheme-case", Clause: "rfc-scheme", Title: op.name + " accepts the scheme of the credential in any case", Writes: op.writes,
		Why:     "Some clients write bearer.",
		Failure: "The valid key after bearer in lower case is refused.",
		run: func(t *tester) {
			if x := t.do(op.valid(t).With(probe.LowerScheme())); !x.Succeeded() {
				fail(x, `the valid key after "bearer" gets %s`, x.StatusLine())
			}
		},
	}
}
