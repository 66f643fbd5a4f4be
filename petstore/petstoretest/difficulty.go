package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Difficulty makes a server do what the contract allows and a client may not expect. Equal
// requests are refused or lost at most twice.
//
// Use one server for each client, and give each pet and message a text of its own:
// two equal creations look like one that is repeated.
type Difficulty struct {
	// Seed determines which requests meet which difficulty: the same requests in the
	// same order meet the same difficulties.
	Seed uint64

	// Names are the names of difficulties, as in docs/clients.md. Without names: all.
	Names []string
}

// difficulty is something that the contract allows and a client may not expect.
type difficulty struct {
	name string // docs/clients.md says what it is

	// change changes every second response, and reports whether the response then has the
	// difficulty. nil: the handler itself (busy, lost) or the store (ids, list-order) has it.
	change func(*exchange, *rand.Rand) bool
}

// difficulties returns all difficulties. Responses are changed in this order.
func difficulties() []difficulty {
	return []difficulty{
		{"busy", nil},
		{"lost", nil},
		{"ids", nil},
		{"list-order", nil},
		{"unknown-codes", unknownCode},
		{"message-status", messageStatus},
		{"extra-members", extraMembers},
		{"json-form", jsonForm},
	}
}

// choose returns the difficulties with these names, or all if there are no names.
func choose(names []string) ([]difficulty, error) {
	all := difficulties()
	if len(names) == 0 {
		return all, nil
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

// failure returns the difficulty because of which x fails, busy or lost, or "". Equal
// requests fail at most twice.
func (h *Handler) failure(x *exchange, random *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := ""
	switch {
	case h.has("busy") && random.IntN(12) == 0:
		name = "busy"
	case h.has("lost") && random.IntN(8) == 0:
		name = "lost"
	}
	if name == "" || h.failures[x.identity()] == 2 {
		return ""
	}
	h.failures[x.identity()]++
	h.seen.Met[name]++
	return name
}

// refuse makes x a response of a busy server. The first one to a creation asks the client to
// wait for one to three seconds: only for a creation the server can prove whether the client
// does. Others ask for no wait, so that tests are fast.
func (h *Handler) refuse(x *exchange, random *rand.Rand) {
	x.status = http.StatusServiceUnavailable
	if random.IntN(2) == 0 {
		x.status = http.StatusTooManyRequests
	}
	after := "0"
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mustWait == nil && x.isCreate() {
		h.mustWait = x
		after = "1"
		if random.IntN(2) == 0 {
			// Without the fraction of the second. A clock that is a second ahead is no mistake.
			after = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
	}
	x.header.Set("Content-Type", "application/json")
	x.header.Set("Retry-After", after)
	x.response = fmt.Appendf(nil, `{"code":"unavailable","message":"the server is busy","status":%d}`, x.status)
}
