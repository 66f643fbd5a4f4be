package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The credential (contract, section 5).

func keyChecks() []Check {
	var checks []Check
	for _, op := range []struct{ name, id, section string }{
		{probe.ListPets, "auth.list", "4.1, 5, 7"},
		{probe.CreatePet, "auth.create", "4.2, 5, 7"},
		{probe.GetPet, "auth.get", "4.3, 5, 7"},
		{probe.SubmitMessage, "messages.auth", "4.4, 5, 7"},
	} {
		checks = append(checks, Check{
			ID: op.id, Section: op.section, Title: op.name + " without a valid credential gets 401", Why: noAccess,
			applies: func(x *exchange) bool { return x.op == op.name && x.hasBadKey() && x.validPathAndBody() && !x.gone() },
			wrong: func(x *exchange) string {
				if x.notASCII() && x.Refused() { // HTTP servers may refuse it by themselves: see auth.ascii
					return ""
				}
				return x.wrongKey()
			},
		})
	}
	first := func(id, section, title, method, resource string, level Level) Check {
		return Check{
			ID: id, Section: section,
			Title: title,
			Level: level, Why: "Without a valid key a client must not learn what is in the store, or what a request looks like.",
			applies: func(x *exchange) bool {
				return x.Request.Method == method && strings.HasPrefix(x.Request.Path, resource) &&
					!x.Request.Credential.Sent() && !x.validPathAndBody() && !x.gone() &&
					plainPath.MatchString(x.Request.Path)
			},
			wrong: (*exchange).wrongKey,
		}
	}
	return append(checks,
		first("auth.first", "5", "without a credential a wrong parameter or an unknown id gets 401", "GET", "/pets", Required),
		first("auth.create.first", "4.2, 5", "without a credential a wrong body gets 401", "POST", "/pets", Recommended),
		first("messages.auth.first", "4.4, 5", "without a credential a wrong message gets 401", "POST", "/messages", Recommended),
		Check{
			ID: "auth.ascii", Section: "5", Title: "a credential outside ASCII gets 401", Level: Recommended,
			Why: noAccess, applies: (*exchange).notASCII, wrong: (*exchange).wrongKey,
		},
		Check{
			ID: "auth.word", Section: "5", Title: "the key with a word after it gets 401", Level: Recommended,
			Why:     noAccess,
			applies: func(x *exchange) bool { return x.Request.Credential.Is(probe.WordAfterKey()) },
			wrong:   (*exchange).wrongKey,
		},
		Check{
			ID: "auth.challenge", Section: "RFC 9110, 15.5.2",
			Title: "a 401 has a challenge for a bearer token", Level: Recommended,
			Why:     "Generic clients learn from it how to authenticate.",
			applies: func(x *exchange) bool { return x.Status == http.StatusUnauthorized },
			wrong: func(x *exchange) string {
				challenges := strings.Join(x.Header.Values("WWW-Authenticate"), ", ")
				bearer := strings.Contains(strings.ToLower(challenges), "bearer")
				return wrongField(x, "WWW-Authenticate", bearer, "the scheme Bearer")
			},
		},
		Check{
			ID: "auth.scheme-case", Section: "RFC 9110, 11.1",
			Title: "the scheme of the credential has no case", Level: Recommended,
			Why: "Some clients write bearer.", applies: func(x *exchange) bool {
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

// hasBadKey reports whether the request of x has no valid credential, even if that is read
// leniently.
func (x *exchange) hasBadKey() bool {
	c := x.Request.Credential
	return !c.Is(probe.ValidKey()) && !c.Is(probe.LowerScheme()) && !c.Is(probe.WordAfterKey())
}

func (x *exchange) notASCII() bool {
	return slices.ContainsFunc(probe.NotASCII(), x.Request.Credential.Is)
}

// wrongKey says what is wrong if x, whose credential is bad, is not a 401.
func (x *exchange) wrongKey() string {
	if x.Status == http.StatusUnauthorized {
		return ""
	}
	return fmt.Sprintf("the request has %s: the response is %s, want 401", x.credential(), x.StatusLine())
}
