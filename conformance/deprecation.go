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
func deprecationCheck(id, title, why, failure string, test func(x *probe.Exchange) error) Check {
	return Check{
		ID: "deprecation." + id, Title: title, Why: why, Failure: failure,
		run: func(t *tester) error {
			x, err := t.deprecatedResponse()
			if err != nil {
				return err
			}
			return test(x)
		},
	}
}

// deprecatedResponse returns the response for a pet, with any status.
func (t *tester) deprecatedResponse() (*probe.Exchange, error) {
	f, err := t.getKnownPet()
	if err != nil {
		return nil, asUndecided(err, "there is no pet to get")
	}
	return f.x, t.wantNotRemoved()
}

var sunsetDate = deprecationCheck("sunset.date", "a Sunset is 5 December 2030", "Clients plan by the date.",
	"The response for a pet has a Sunset on another day. A Sunset that is absent or not a date is judged by deprecation.sunset.present.",
	func(x *probe.Exchange) error {
		for _, v := range x.Header.Values("Sunset") {
			at, err := http.ParseTime(v)
			if err == nil && (at.Before(removalBegins) || at.After(removalEnds)) {
				return violationf(x, "the Sunset is %q, and the contract says 5 December 2030", v)
			}
		}
		return nil
	})

var sunsetPresent = deprecationCheck("sunset.present", "GET /pets/{petId} announces its removal in Sunset", warnsUsers,
	"The Sunset is absent or not an HTTP date.",
	func(x *probe.Exchange) error {
		v := x.Header.Get("Sunset")
		if v == "" {
			return violationf(x, "the response has no Sunset")
		}
		if _, err := http.ParseTime(v); err != nil {
			return violationf(x, "the Sunset %q is not an HTTP date", v)
		}
		return nil
	})

var deprecationPresent = deprecationCheck("deprecation.present", "GET /pets/{petId} says in Deprecation that it is deprecated", warnsUsers,
	"The Deprecation is absent or not a date: @ and the seconds since 1970.",
	func(x *probe.Exchange) error {
		_, err := deprecatedSince(x)
		return err
	})

var deprecationOrder = deprecationCheck("deprecation.order", "the Deprecation is not after the removal",
	"A resource must be deprecated before it is removed (RFC 9745, section 4).",
	"The date in Deprecation is after 5 December 2030.",
	func(x *probe.Exchange) error {
		at, err := deprecatedSince(x)
		if err == nil && at.After(removalEnds) {
			return violationf(x, "the operation is deprecated from %s on, after its removal", at.UTC().Format(time.DateOnly))
		}
		return nil // deprecation.deprecation.present judges the rest
	})

// deprecatedSince returns the date in Deprecation (RFC 9745).
func deprecatedSince(x *probe.Exchange) (time.Time, error) {
	v := x.Header.Get("Deprecation")
	if v == "" {
		return time.Time{}, violationf(x, "the response has no Deprecation")
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(v), "@")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return time.Time{}, violationf(x, "the Deprecation %q is not a date such as @1735689600", v)
	}
	return time.Unix(seconds, 0), nil
}
