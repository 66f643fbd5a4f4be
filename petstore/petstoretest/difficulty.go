package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Difficulty is something that the contract allows and a client may not expect.
type Difficulty struct {
	Name  string // such as "lost-response"
	About string // what the server does, in one sentence
}

// Difficulties returns all difficulties.
func Difficulties() []Difficulty {
	var all []Difficulty
	for _, d := range allDifficulties {
		all = append(all, Difficulty{d.name, d.about})
	}
	return all
}

// allDifficulties holds the difficulties in the order in which they act on an
// exchange.
var allDifficulties = []difficulty{
	{name: "delay", about: "A response is delayed by a few milliseconds.", often: 4, before: delay},
	{name: "too-many-requests", about: "A request gets 429 with Retry-After.", often: 20, interrupts: true, before: refuse(429, "too_many_requests")},
	{name: "unavailable", about: "A request gets 503 with Retry-After.", often: 20, interrupts: true, before: refuse(503, "unavailable")},
	{name: "lost-request", about: "The connection is closed before the request is carried out.", often: 20, interrupts: true, before: loseRequest},

	{name: "ids-huge", about: "IDs are beyond 2^53: a floating-point number does not hold them exactly.", group: "ids", show: ids(huge), after: showsPets(1)},
	{name: "ids-negative", about: "IDs are negative.", group: "ids", show: ids(negative), after: showsPets(1)},
	{name: "ids-sparse", about: "IDs are far apart and not ascending.", group: "ids", show: ids(sparse), after: showsPets(1)},
	{name: "list-descending", about: "A list begins with the newest pet.", group: "order", show: order(newestFirst), after: showsPets(2)},
	{name: "list-by-name", about: "A list is sorted by name.", group: "order", show: order(byName), after: showsPets(2)},
	{name: "list-random", about: "A list is in an arbitrary order.", group: "order", show: order(byHash), after: showsPets(2)},
	{name: "short-pages", about: "A page after the first has fewer pets than the limit, though there are more.", group: "pages", show: shortPages, after: isShortPage},
	{name: "no-link", about: "A list does not link to its next page.", group: "pages", after: noLink},
	{name: "link-elsewhere", about: "Link and Location lead to another server, which must not receive the key.", group: "pages", after: linkElsewhere},

	{name: "no-deprecation", about: "A pet is returned without Deprecation and Sunset.", often: 2, after: noDeprecation},
	{name: "unknown-codes", about: "The code of an Error is one that the client does not know.", often: 2, after: unknownCode},
	{name: "message-status", about: "A message gets 200 or 201, not 202.", often: 2, after: messageStatus},
	{name: "extra-members", about: "JSON objects have additional members.", often: 2, after: extraMembers},
	{name: "member-order", about: "JSON objects have their members in another order.", often: 2, after: memberOrder},
	{name: "escapes", about: "All characters of JSON strings are escaped, including those of member names.", often: 3, after: escapes},
	{name: "white-space", about: "JSON has white space before, in and after it.", often: 3, after: whiteSpace},
	{name: "chunked", about: "A response is chunked and arrives in pieces.", often: 3, after: chunked},
	{name: "connection-close", about: "The connection is closed after a response.", often: 5, after: connectionClose},
	{name: "lost-response", about: "The operation is carried out, but the connection is closed before the response ends.", often: 20, interrupts: true, after: loseResponse},
}

// difficulty is a [Difficulty] with the code that produces it.
type difficulty struct {
	name, about string

	// group is the name of a group. A server has at most one difficulty of each
	// group. "": the difficulty can be combined with all others.
	group string

	// often: one in this many exchanges has the difficulty. 0: every exchange.
	often int

	show       func(v *view, seed uint64) // changes how the server shows its store
	before     action                     // replaces the operation if it sets a status or cuts the connection
	after      action                     // changes the response
	interrupts bool                       // the client does not receive the result
}

// action changes an exchange, with a source of random numbers for this exchange
// only. It reports whether the exchange now has the difficulty.
type action func(*exchange, *rand.Rand) bool

// choose returns the difficulties with these names, or all difficulties if there
// are no names. It returns only one difficulty of each group.
func choose(seed uint64, names []string) ([]difficulty, error) {
	for _, name := range names {
		if !slices.ContainsFunc(allDifficulties, func(d difficulty) bool { return d.name == name }) {
			return nil, fmt.Errorf("petstoretest: unknown difficulty %q; Difficulties returns the known ones", name)
		}
	}
	wanted := slices.DeleteFunc(slices.Clone(allDifficulties), func(d difficulty) bool {
		return len(names) > 0 && !slices.Contains(names, d.name)
	})
	groups := map[string][]string{} // the names to choose from
	for _, d := range wanted {
		groups[d.group] = append(groups[d.group], d.name)
	}
	return slices.DeleteFunc(wanted, func(d difficulty) bool {
		members := groups[d.group]
		return d.group != "" && d.name != members[random(seed, d.group, 0).IntN(len(members))]
	}), nil
}
