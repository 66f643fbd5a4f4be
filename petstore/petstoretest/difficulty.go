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
// Use one server for each client, and give each pet and message a name or text that no other
// has: two equal creations look like one that is repeated.
type Difficulty struct {
	// Seed determines which requests meet which difficulty: the same requests in the
	// same order meet the same difficulties. 0 is a seed like others.
	Seed uint64

	// Names are the names of difficulties, as in docs/clients.md. Without names: all.
	Names []string
}

// difficulties are the names of all difficulties.
var difficulties = []string{
	// The handler has these: see failure.
	"busy",
	"lost",

	// The store has these.
	"ids",
	"list-order",

	// Responses have these: see changes.
	"unknown-codes",
	"message-status",
	"extra-members",
	"json-form",
}

// changes change a response, and report whether it then has the difficulty. They are called
// for every second response.
var changes = map[string]func(*exchange, *rand.Rand) bool{
	"unknown-codes":  unknownCode,
	"message-status": messageStatus,
	"extra-members":  extraMembers,
	"json-form":      jsonForm,
}

// check returns an error if a name is not one of a difficulty.
func (d *Difficulty) check() error {
	for _, name := range d.Names {
		if !slices.Contains(difficulties, name) {
			return fmt.Errorf("unknown difficulty %q; the difficulties are %s", name, strings.Join(difficulties, ", "))
		}
	}
	return nil
}

// has reports whether h has a difficulty.
func (h *Handler) has(name string) bool {
	d := h.difficult
	return d != nil && (len(d.Names) == 0 || slices.Contains(d.Names, name))
}

// maxFailures is how often equal requests fail.
const maxFailures = 2

// failure returns the difficulty because of which x fails, busy or lost, or "".
func (h *Handler) failure(x *exchange, random *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := ""
	switch {
	case x.operation() == otherOperation || h.failures[x.identity()] == maxFailures:
		return ""
	case h.has("busy") && random.IntN(12) == 0:
		name = "busy"
	case h.has("lost") && random.IntN(8) == 0:
		name = "lost"
	default:
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
