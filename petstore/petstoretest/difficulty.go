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

// Difficulty is something that the contract allows and a client may not expect.
type Difficulty struct {
	Name  string // such as "lost"
	About string // what the server does, in one sentence

	often int                              // one in this many exchanges has the difficulty
	apply func(*exchange, *rand.Rand) bool // changes the response if necessary, and reports whether it has the difficulty; nil for busy and lost, see interruption
}

// Difficulties returns all difficulties.
func Difficulties() []Difficulty {
	return []Difficulty{
		{"busy", "A request gets 429 or 503 with Retry-After.", 12, nil},
		{"lost", "The connection is closed: before the request is carried out, before the response or in the middle of it.", 8, nil},

		{"ids", "IDs have up to 19 digits, more than a floating-point number holds, and half of them are negative.", 1, showsPets(1)},
		{"list-order", "A list has no recognisable order.", 1, showsPets(2)},
		{"short-pages", "A page after the first has fewer pets than the limit, though there are more.", 1, isShortPage},
		{"link-elsewhere", "The Link to the next page leads to another path of this server, and Location to another server.", 3, linkElsewhere},

		{"unknown-codes", "The code of an Error is one that the client does not know.", 2, unknownCode},
		{"message-status", "A message gets 200 or 201, not 202.", 2, messageStatus},
		{"extra-members", "JSON objects have additional members.", 2, extraMembers},
		{"json-form", "JSON has white space, its members are in another order, and characters are escaped.", 2, jsonForm},
	}
}

// choose returns the difficulties with these names, or all difficulties if there
// are no names.
func choose(names []string) ([]Difficulty, error) {
	all := Difficulties()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown difficulty %q; the difficulties are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(d Difficulty) bool { return !slices.Contains(names, d.Name) }), nil
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
	x.header.Set("Accept-Idempotency-Key", "?1")
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

// linkElsewhere makes Location lead to the other address, and the link to the next page to
// another path.
func linkElsewhere(x *exchange, _ *rand.Rand) bool {
	if location := x.header.Get("Location"); location != "" {
		x.header.Set("Location", x.elsewhere+"/"+location)
		return true
	}
	query, rest, found := strings.Cut(strings.TrimPrefix(x.header.Get("Link"), "<?"), ">")
	values, err := url.ParseQuery(query)
	if !found || err != nil || !values.Has("cursor") {
		return false
	}
	cursor := values.Get("cursor")
	values.Del("cursor")
	x.header.Set("Link", "<"+base+nextPages+cursor+"?"+values.Encode()+">"+rest)
	return true
}

func messageStatus(x *exchange, r *rand.Rand) bool {
	if x.status != http.StatusAccepted {
		return false
	}
	x.status = http.StatusOK + r.IntN(2)
	return true
}
