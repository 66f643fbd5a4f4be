package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// What GET /pets/{petId} says about its removal. The contract has a day without
// a time zone (sections 4.3 and 9). The day begins in the first zone to reach
// 5 December 2030 and ends in the last one.
var (
	removalBegins = time.Date(2030, time.December, 4, 10, 0, 0, 0, time.UTC)
	removalEnds   = time.Date(2030, time.December, 6, 12, 0, 0, 0, time.UTC)
)

const warnsUsers = "Tools warn clients that still use the operation."

// deprecationCheck returns a check of the response for a pet.
func deprecationCheck(clause, id, title, why, failure string, test func(x *probe.Exchange)) Check {
	return Check{
		ID: "deprecation." + id, Clause: clause, Title: title, Why: why, Failure: failure,
		run: func(t *tester) { test(t.getKnown()) },
	}
}

var deprecationChecks = []Check{
	deprecationCheck("sunset", "sunset.date", "a Sunset is 5 December 2030", "Clients plan by the date.",
		"The response for a pet has a Sunset on another day. A Sunset that is absent or not a date is judged by deprecation.sunset.present.",
		func(x *probe.Exchange) {
			for _, v := range x.Header.Values("Sunset") {
				at, err := http.ParseTime(v)
				if err == nil && (at.Before(removalBegins) || at.After(removalEnds)) {
					fail(x, "the Sunset is %q, and the contract says 5 December 2030", v)
				}
			}
		}),
	deprecationCheck("rfc-sunset", "sunset.present", "GET /pets/{petId} announces its removal in Sunset", warnsUsers,
		"The Sunset is absent or not an HTTP date.",
		func(x *probe.Exchange) {
			v := x.Header.Get("Sunset")
			if v == "" {
				fail(x, "the response has no Sunset")
			}
			if _, err := http.ParseTime(v); err != nil {
				fail(x, "the Sunset %q is not an HTTP date", v)
			}
		}),
	deprecationCheck("rfc-deprecation", "deprecation.present", "GET /pets/{petId} says in Deprecation that it is deprecated", warnsUsers,
		"The Deprecation is absent or not a date: @ and the seconds since 1970.",
		func(x *probe.Exchange) {
			v := x.Header.Get("Deprecation")
			if v == "" {
				fail(x, "the response has no Deprecation")
			}
			if _, err := parseDeprecation(v); err != nil {
				fail(x, "the Deprecation %q is not a date such as @1735689600", v)
			}
		}),
	deprecationCheck("rfc-deprecation", "deprecation.order", "the Deprecation is not after the removal",
		"A resource must be deprecated before it is removed (RFC 9745, section 4).",
		"The date in Deprecation is after 5 December 2030.",
		func(x *probe.Exchange) {
			at, err := parseDeprecation(x.Header.Get("Deprecation"))
			if err == nil && at.After(removalEnds) { // deprecation.deprecation.present judges what is not a date
				fail(x, "the operation is deprecated from %s on, after its removal", at.UTC().Format(time.DateOnly))
			}
		}),
}

// parseDeprecation reads the date of a Deprecation (RFC 9745).
func parseDeprecation(v string) (time.Time, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(v), "@")
	if !ok {
		return time.Time{}, strconv.ErrSyntax
	}
	seconds, err := strconv.ParseInt(digits, 10, 64)
	return time.Unix(seconds, 0), err
}
