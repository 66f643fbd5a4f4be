package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// difficulty is something that the contract allows and a client may not expect.
type difficulty struct {
	name  string // such as "lost"
	about string // what the server does, in one sentence

	often int                              // one in this many exchanges has the difficulty
	apply func(*exchange, *rand.Rand) bool // changes the response if necessary, and reports whether it has the difficulty; nil for busy and lost, see interruption

	// ask turns a request back into one that the handler knows, if the difficulty changes
	// IDs or links in responses. nil: it does not.
	ask func(*exchange, *http.Request, *rand.Rand)
}

// difficulties returns all difficulties. Responses have them in this order, so requests
// are turned back in the reverse order.
func difficulties() []difficulty {
	return []difficulty{
		{"busy", "A request gets 429 or 503 with Retry-After.", 12, nil, nil},
		{"lost", "The connection is closed: before the request is carried out, before the response or in the middle of it.", 8, nil, nil},

		{"ids", "IDs have up to 19 digits, more than a floating-point number holds, and half of them are negative.", 1, showIDs, storeID},
		{"list-order", "The pets of a page are in no recognisable order.", 1, shuffle, nil},
		{"short-pages", "A page after the first has fewer pets than the limit, though there are more.", 1, isShortPage, shortenPage},
		{"link-elsewhere", "The Link to the next page leads to another path.", 3, linkElsewhere, fromElsewhere},

		{"unknown-codes", "The code of an Error is one that the client does not know.", 2, unknownCode, nil},
		{"message-status", "A message gets 200 or 201, not 202.", 2, messageStatus, nil},
		{"extra-members", "JSON objects have additional members.", 2, extraMembers, nil},
		{"json-form", "JSON has white space, and its members are in another order.", 2, jsonForm, nil},
	}
}

// choose returns the difficulties with these names. Without names it returns all but, for an
// own handler, ids.
func choose(names []string, ownHandler bool) ([]difficulty, error) {
	all := difficulties()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(d difficulty) bool { return ownHandler && d.name == "ids" }), nil
	}
	var known []string
	for _, d := range all {
		known = append(known, d.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown difficulty %q; the difficulties are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(d difficulty) bool { return !slices.Contains(names, d.name) }), nil
}

// refuse makes x a response of a busy server. If x.mustWait is set, it asks the client to
// wait for one to three seconds. Most do not, so that tests are fast.
func (x *exchange) refuse(r *rand.Rand) {
	after := "0"
	if x.mustWait {
		after = "1"
		if r.IntN(2) == 0 {
			// Without the fraction of the second. A clock that is a second ahead is no mistake.
			after = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
	}
	x.status = http.StatusServiceUnavailable
	if r.IntN(2) == 0 {
		x.status = http.StatusTooManyRequests
	}
	x.header.Set("Content-Type", "application/json")
	x.header.Set("Retry-After", after)
	x.response = fmt.Appendf(nil, `{"code":"unavailable","message":"this cannot be done now; try again later","status":%d}`, x.status)
}

func messageStatus(x *exchange, r *rand.Rand) bool {
	if x.status != http.StatusAccepted {
		return false
	}
	x.status = http.StatusOK + r.IntN(2)
	return true
}
