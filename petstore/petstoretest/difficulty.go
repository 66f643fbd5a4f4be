package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
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
}

// ofStore are the difficulties that a server cannot add to the responses of a handler.
var ofStore = []string{"ids", "list-order", "short-pages"}

// difficulties returns all difficulties.
func difficulties() []difficulty {
	return []difficulty{
		{"busy", "A request gets 429 or 503 with Retry-After.", 12, nil},
		{"lost", "The connection is closed: before the request is carried out, before the response or in the middle of it.", 8, nil},

		{"ids", "IDs have up to 19 digits, more than a floating-point number holds, and half of them are negative.", 1, showsPets(1)},
		{"list-order", "A list has no recognisable order.", 1, showsPets(2)},
		{"short-pages", "A page after the first has fewer pets than the limit, though there are more.", 1, isShortPage},
		{"link-elsewhere", "The Link to the next page leads to another path.", 3, linkElsewhere},

		{"unknown-codes", "The code of an Error is one that the client does not know.", 2, unknownCode},
		{"message-status", "A message gets 200 or 201, not 202.", 2, messageStatus},
		{"extra-members", "JSON objects have additional members.", 2, extraMembers},
		{"json-form", "JSON has white space, its members are in another order, and characters are escaped.", 2, jsonForm},
	}
}

// choose returns the difficulties with these names, or all that are possible if there
// are no names.
func choose(names []string, ownHandler bool) ([]difficulty, error) {
	all := difficulties()
	if ownHandler {
		all = slices.DeleteFunc(all, func(d difficulty) bool { return slices.Contains(ofStore, d.name) })
	}
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, d := range all {
		known = append(known, d.name)
	}
	for _, name := range names {
		switch {
		case ownHandler && slices.Contains(ofStore, name):
			return nil, fmt.Errorf("the difficulty %q is not possible with a Handler", name)
		case !slices.Contains(known, name):
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

// lose makes x an exchange whose connection is cut before the response or in the middle
// of it.
func (x *exchange) lose(r *rand.Rand) {
	x.cut = true
	if r.IntN(2) == 0 {
		x.status = 0
	}
}

func isShortPage(x *exchange, _ *rand.Rand) bool {
	return x.done && x.path == "/pets" && strings.Contains(x.query, "cursor=") && x.header.Get("Link") != ""
}

// nextPages is the path below which a server with the difficulty link-elsewhere has the
// pages of a list after the first one, by their cursors.
const nextPages = "/pages/"

// linkElsewhere makes the link to the next page lead to another path.
func linkElsewhere(x *exchange, _ *rand.Rand) bool {
	link, ours := strings.CutPrefix(x.header.Get("Link"), "<?")
	query, rest, _ := strings.Cut(link, ">")
	values, err := url.ParseQuery(query)
	cursor := values.Get("cursor")
	if !ours || err != nil || cursor == "" || strings.Contains(query, "#") || strings.Contains(cursor, "..") || len(x.header["Link"]) > 1 {
		return false // an own handler has other links
	}
	values.Del("cursor")
	x.header.Set("Link", "<"+x.server.Prefix+nextPages+url.PathEscape(cursor)+"?"+values.Encode()+">"+rest)
	return true
}

func messageStatus(x *exchange, r *rand.Rand) bool {
	if x.status != http.StatusAccepted {
		return false
	}
	x.status = http.StatusOK + r.IntN(2)
	return true
}
