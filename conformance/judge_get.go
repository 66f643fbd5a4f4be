package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} (contract, section 4.3), and what it says about its removal. The
// contract has a day without a time zone (sections 4.3 and 9). The day begins in the
// first zone to reach 5 December 2030 and ends in the last one.
var (
	removalBegins = time.Date(2030, time.December, 4, 10, 0, 0, 0, time.UTC)
	removalEnds   = time.Date(2030, time.December, 6, 12, 0, 0, 0, time.UTC)
)

func getChecks() []Check {
	isPet := func(x *exchange) bool { return x.op == probe.GetPet && x.id != nil && x.Status == http.StatusOK }
	known := func(x *exchange) bool { return isPet(x) && x.hasKey() && x.exists() }
	return []Check{
		{
			ID: "pets.get.status", Section: "1, 4.3",
			Title:   "GET /pets/{petId} responds 200 for a pet in the store, until 5 December 2030",
			Why:     "No operation of the contract removes a pet.",
			applies: func(x *exchange) bool { return x.id != nil && x.exists() && x.hasKey() && !x.gone() },
			wrongAfter: func(x *exchange) (*exchange, string) {
				return x.run.addedBy(*x.id), x.wrongSuccess("the pet is in the store", 200)
			},
		},
		{
			ID: "pets.get.missing", Section: "4.3, 7", Title: "the id of no pet gets 404",
			Why: "A client must be able to distinguish a missing pet from an error, and from another pet.",
			applies: func(x *exchange) bool {
				return x.id != nil && x.hasKey() && !x.gone() && x.run.firstShown[*x.id] == nil
			},
			wrong: func(x *exchange) string {
				if x.Status == http.StatusNotFound || x.Status >= 500 { // of 5xx there is a check
					return ""
				}
				// It may be a pet that no list shows, unless the id is as large as the one that
				// the run made up.
				if x.Succeeded() && x.pet.ID == *x.id && *x.id < 1<<62 {
					return ""
				}
				return fmt.Sprintf("no pet has the id %d: the response is %s, want 404", *x.id, x.StatusLine())
			},
		},
		{
			ID: "pets.get.almost", Section: "4.3, 7", Title: "what is not an int64 gets no pet",
			Why: "A client that sends a wrong id would get another pet.", applies: func(x *exchange) bool {
				return x.op == probe.GetPet && x.id == nil && x.intent.Spelled == 0 && x.hasKey() && !x.gone()
			},
			wrong: func(x *exchange) string {
				if x.Succeeded() {
					id := strings.TrimPrefix(x.Request.Path, "/pets/")
					return fmt.Sprintf("%s is not the id of a pet, and the response is %s", id, x.StatusLine())
				}
				return ""
			},
		},
		{
			ID: "pets.get.spelling", Section: "4.3", Title: "only the decimal digits of an id get the pet", Level: Recommended,
			Why: "A pet has one address, which clients and caches compare.",
			applies: func(x *exchange) bool {
				return x.op == probe.GetPet && x.intent.Spelled != 0 && x.hasKey() && !x.gone()
			},
			wrong: func(x *exchange) string {
				if !x.Succeeded() {
					return ""
				}
				return fmt.Sprintf("%s gets the response of %d, %s", x.intent.Unusual, x.intent.Spelled, x.StatusLine())
			},
		},
		{
			ID: "pets.get.media-type", Section: "4", Title: "a pet is application/json",
			Why: byMediaType, applies: known, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.get.pet", Section: "2.2", Title: "a pet has its fields, each of its type",
			Why: typed, applies: isPet,
			wrongAfter: func(x *exchange) (*exchange, string) {
				c := x.run.addedBy(*x.id)
				if followsFrom(c, x.pet) {
					return nil, ""
				}
				return c, x.wrongPetBody()
			},
		},
		{
			ID: "pets.get.id", Section: "2.2", Title: "the pet in a response is the one that was requested",
			Why:     "A client would mistake one pet for another.",
			applies: func(x *exchange) bool { return isPet(x) && x.petErr.ID == nil },
			wrongAfter: func(x *exchange) (*exchange, string) {
				if x.pet.ID == *x.id {
					return nil, ""
				}
				return x.run.addedBy(*x.id), fmt.Sprintf("the response has the id %d, want %d", x.pet.ID, *x.id)
			},
		},
		{
			ID: "pets.get.created", Section: "4.2",
			Title:   "a pet is in the store as it was added, and other requests do not disturb it",
			Why:     keptExactly,
			applies: func(x *exchange) bool { return isPet(x) && x.petErr.Any() == nil && x.creation() != nil },
			wrongAfter: func(x *exchange) (*exchange, string) {
				if in, diff := x.creation().differs(x.pet); diff != "" && in != probe.InID {
					return x.run.addedBy(*x.id), "GET /pets/{petId} does not show the pet as it was added: " + diff
				}
				return nil, ""
			},
		},
		{
			ID: "pets.integers", Section: "2.1, 2.2",
			Title: "the integers of a pet have no fraction and no exponent", Level: Recommended,
			Why:     "Typed clients read 7.0 as a floating-point number, or not at all.",
			applies: func(x *exchange) bool { return x.hasElements() || isPet(x) || x.isCreation() },
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range append(x.list.Pets, x.pet) {
					if p.Fraction != "" {
						return x.run.addedBy(p.ID), "an integer is written as " + p.Fraction
					}
				}
				return nil, ""
			},
		},
		{
			ID: "deprecation.sunset.date", Section: "4.3, 9", Title: "a Sunset is 5 December 2030",
			Why:     "Clients plan by the date.",
			applies: func(x *exchange) bool { return known(x) && x.Header.Get("Sunset") != "" },
			wrong: func(x *exchange) string {
				at, err := http.ParseTime(x.Header.Get("Sunset"))
				if err == nil && (at.Before(removalBegins) || at.After(removalEnds)) {
					return fmt.Sprintf("the Sunset is %q, and the contract says 5 December 2030", x.Header.Get("Sunset"))
				}
				return ""
			},
		},
		{
			ID: "deprecation.sunset.present", Section: "RFC 8594, 3",
			Title: "GET /pets/{petId} announces its removal in Sunset", Level: Recommended,
			Why: warnsUsers, applies: known,
			wrong: func(x *exchange) string {
				_, err := http.ParseTime(x.Header.Get("Sunset"))
				return wrongField(x, "Sunset", err == nil, "an HTTP date")
			},
		},
		{
			ID: "deprecation.deprecation.present", Section: "RFC 9745, 2 and 4",
			Title: "GET /pets/{petId} says in Deprecation since when it is deprecated", Level: Recommended,
			Why: warnsUsers, applies: known,
			wrong: func(x *exchange) string {
				digits, ok := strings.CutPrefix(strings.TrimSpace(x.Header.Get("Deprecation")), "@")
				seconds, err := strconv.ParseInt(digits, 10, 64)
				inTime := !time.Unix(seconds, 0).After(removalEnds) // RFC 9745, section 4
				return wrongField(x, "Deprecation", ok && err == nil && inTime, "a date before the removal, such as @1735689600")
			},
		},
	}
}
