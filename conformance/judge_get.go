package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// GET /pets/{petId} (contract, section 4.3), and what it says about its removal. The
// contract has a day without a time zone (sections 4.3 and 9). The day begins in the
// first zone to reach 5 December 2030 and ends in the last one.
var (
	removalBegins = time.Date(2030, time.December, 4, 10, 0, 0, 0, time.UTC)
	removalEnds   = time.Date(2030, time.December, 6, 12, 0, 0, 0, time.UTC)
)

func getChecks() []Check {
	isPet := func(x *exchange) bool { return x.op == opGet && x.id != nil && x.Status == http.StatusOK }
	known := func(x *exchange) bool { return isPet(x) && x.validHeader() && x.exists() }
	return []Check{
		{
			ID: "pets.get.status", Clause: "get", Title: "GET /pets/{petId} responds 200 for a pet in the store",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.id != nil && x.exists() && x.validHeader() && !x.gone() },
			wrong: func(x *exchange) string { return x.wrongSuccess("the pet is in the store"+x.meanwhile(), 200) },
		},
		{
			ID: "pets.get.missing", Clause: "get-missing", Title: "the id of no pet gets 404",
			basic: aboutStatus,
			applies: func(x *exchange) bool {
				return x.id != nil && !x.exists() && x.validHeader() && !x.gone() && !x.mayExist()
			},
			wrong: func(x *exchange) string {
				// It may be the pet of another client, unless the id is as large as the one that
				// the run made up.
				if x.Status == http.StatusNotFound || x.Succeeded() && (x.petErr.id == nil && x.pet.ID == *x.id || x.petErr.id != nil && *x.id < 1<<62) {
					return ""
				}
				return fmt.Sprintf("no pet has the id %d: the response is %s, want 404", *x.id, x.StatusLine())
			},
		},
		{
			ID: "pets.get.almost", Clause: "get-missing", Title: "what is not an int64 gets no pet",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.op == opGet && x.id == nil && x.validHeader() && !x.gone() },
			wrong: func(x *exchange) string {
				if x.Succeeded() {
					return fmt.Sprintf("%s is not the id of a pet, and the response is %s", strings.TrimPrefix(x.Request.Path, "/pets/"), x.StatusLine())
				}
				return ""
			},
		},
		{
			ID: "pets.get.media-type", Clause: "media-type", Title: "a pet is application/json",
			basic: aboutShape, applies: known, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.get.pet", Clause: "pet", Title: "a pet has its fields, each of its type",
			basic: aboutShape, applies: isPet, wrong: (*exchange).wrongPet,
		},
		{
			ID: "pets.get.id", Clause: "id", Title: "a pet has the id that was requested",
			basic: aboutIdentity, applies: func(x *exchange) bool { return isPet(x) && x.petErr.id == nil },
			wrongPet: func(x *exchange) (int64, string) {
				if x.pet.ID != *x.id {
					return *x.id, fmt.Sprintf("the response has the id %d, want %d", x.pet.ID, *x.id)
				}
				return 0, ""
			},
		},
		{
			ID: "pets.get.created", Clause: "create-adds", Title: "a pet is in the store as it was added",
			basic: aboutValues, applies: func(x *exchange) bool { return isPet(x) && x.petErr.any() == nil && x.creation() != nil },
			wrongPet: func(x *exchange) (int64, string) {
				if in, diff := x.creation().stored().diff(x.pet); diff != "" && in != inID {
					return *x.id, "GET /pets/{petId} does not show the pet as it was added: " + diff
				}
				return 0, ""
			},
		},
		{
			ID: "pets.integers", Clause: "integers", Title: "the integers of a pet have no fraction and no exponent",
			basic: aboutShape, idle: true, applies: func(x *exchange) bool { return x.hasElements() || isPet(x) || x.isNewPet() },
			wrong: func(x *exchange) string {
				for _, p := range append(x.list.pets, x.pet) {
					if p.fraction != "" {
						return "an integer is written as " + p.fraction
					}
				}
				return ""
			},
		},
		{
			ID: "deprecation.sunset.date", Clause: "sunset", Title: "a Sunset is 5 December 2030",
			basic: aboutValues, idle: true, applies: known,
			wrong: func(x *exchange) string {
				at, err := http.ParseTime(x.Header.Get("Sunset"))
				if err == nil && (at.Before(removalBegins) || at.After(removalEnds)) {
					return fmt.Sprintf("the Sunset is %q, and the contract says 5 December 2030", x.Header.Get("Sunset"))
				}
				return ""
			},
		},
		{
			ID: "deprecation.sunset.present", Clause: "rfc-sunset", Title: "GET /pets/{petId} announces its removal in Sunset",
			basic: aboutShape, applies: known,
			wrong: func(x *exchange) string {
				v := x.Header.Get("Sunset")
				if _, err := http.ParseTime(v); err != nil {
					return fmt.Sprintf("the Sunset is %q, not an HTTP date", v)
				}
				return ""
			},
		},
		{
			ID: "deprecation.deprecation.present", Clause: "rfc-deprecation", Title: "GET /pets/{petId} says in Deprecation since when it is deprecated",
			basic: aboutShape, applies: known,
			wrong: func(x *exchange) string {
				v := x.Header.Get("Deprecation")
				digits, ok := strings.CutPrefix(strings.TrimSpace(v), "@")
				seconds, err := strconv.ParseInt(digits, 10, 64)
				switch {
				case !ok || err != nil:
					return fmt.Sprintf("the Deprecation is %q, not a date such as @1735689600", v)
				case time.Unix(seconds, 0).After(removalEnds): // RFC 9745, section 4
					return fmt.Sprintf("the Deprecation is %q, after the removal", v)
				}
				return ""
			},
		},
	}
}

// mayExist reports whether the id in the path of x may be that of a pet that is known
// from elsewhere.
func (x *exchange) mayExist() bool {
	for _, pets := range x.run.atStart {
		if hasID(pets, *x.id) {
			return true
		}
	}
	_, known := x.run.knownSince[*x.id]
	return known
}
