package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The credential (contract, section 5).

func keyChecks() []Check {
	var checks []Check
	for _, op := range []struct{ name, id, clause string }{
		{opList, "auth.list", "key-list"},
		{opCreate, "auth.create", "key-create"},
		{opGet, "auth.get", "key-get"},
		{opSubmit, "messages.auth", "key-messages"},
	} {
		checks = append(checks, Check{
			ID: op.id, Clause: op.clause, Title: op.name + " without a valid credential gets 401",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.op == op.name && x.hasBadKey() && x.validPathAndBody() && !x.gone() },
			wrong: func(x *exchange) string {
				notASCII := x.Request.Credential.Is(probe.NotASCII()) // HTTP servers may refuse it by themselves
				if x.Status == http.StatusUnauthorized || notASCII && x.Refused() {
					return ""
				}
				return x.wrongKey()
			},
		})
	}
	first := func(id, clause, title, method, resource string) Check {
		return Check{
			ID: id, Clause: clause, Title: title, basic: aboutStatus,
			applies: func(x *exchange) bool {
				return x.Request.Method == method && strings.HasPrefix(x.Request.Path, resource) && !x.Request.Credential.Sent() && !x.validPathAndBody() && !x.gone() && plainPath.MatchString(x.Request.Path)
			},
			wrong: func(x *exchange) string {
				if x.Status == http.StatusUnauthorized {
					return ""
				}
				return x.wrongKey()
			},
		}
	}
	return append(checks,
		first("auth.first", "key-first", "without a credential a wrong parameter or an unknown id gets 401", "GET", "/pets"),
		first("auth.create.first", "key-before-body", "without a credential a wrong body gets 401", "POST", "/pets"),
		first("messages.auth.first", "key-before-body", "without a credential a wrong message gets 401", "POST", "/messages"),
		Check{
			ID: "auth.challenge", Clause: "rfc-challenge", Title: "a 401 has a challenge for a bearer token",
			basic: aboutShape, applies: func(x *exchange) bool { return x.Status == http.StatusUnauthorized },
			wrong: func(x *exchange) string {
				challenges := strings.Join(x.Header.Values("WWW-Authenticate"), ", ")
				if !strings.Contains(strings.ToLower(challenges), "bearer") {
					return fmt.Sprintf("the WWW-Authenticate of the 401 is %q, want the scheme Bearer", challenges)
				}
				return ""
			},
		},
		Check{
			ID: "auth.scheme-case", Clause: "rfc-scheme", Title: "the scheme of the credential has no case",
			basic: aboutStatus, applies: func(x *exchange) bool {
				return x.Request.Credential.Is(probe.LowerScheme()) && x.validPathAndBody()
			},
			wrong: func(x *exchange) string {
				if x.Succeeded() {
					return ""
				}
				return fmt.Sprintf(`the valid key after "bearer" gets %s`, x.StatusLine())
			},
		})
}

// hasBadKey reports whether the request of x has no valid credential.
func (x *exchange) hasBadKey() bool {
	c := x.Request.Credential
	return !c.Is(probe.ValidKey()) && !c.Is(probe.LowerScheme())
}

func (x *exchange) wrongKey() string {
	return fmt.Sprintf("the request has %s: the response is %s, want 401", cmp.Or(x.Request.Credential.What, "no Authorization field"), x.StatusLine())
}
