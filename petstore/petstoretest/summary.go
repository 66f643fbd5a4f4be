package petstoretest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Summary is what a [Handler] has seen of its clients.
type Summary struct {
	Findings []Finding // the mistakes

	Requests  map[string]int // by operation, such as "GET /pets/{petId}"; "other": of no operation
	Succeeded int            // how many requests of operations got a whole response of 2xx
	Refused   map[int]int    // the responses of 4xx by status, except those of the difficulty busy

	// RepeatableFailures counts the busy and lost responses after which a client may repeat the
	// request, and RepeatedFailures those of them that an equal request followed. They are
	// equal if the client repeats creations, too. LostWithoutKey counts the lost creations
	// without an Idempotency-Key, which a client must not repeat.
	RepeatableFailures, RepeatedFailures, LostWithoutKey int

	// Links counts the different links to a next page. The client requested Followed of them.
	Links, Followed int

	// Met counts by name how often the server had a difficulty: for ids the pets in
	// responses, for the others the responses.
	Met map[string]int
}

// String returns the counts as a text of several lines, without the findings.
func (s Summary) String() string {
	lines := []string{
		fmt.Sprintf("requests: %s, of which %d succeeded", counts(s.Requests), s.Succeeded),
		"refused: " + counts(s.Refused),
		fmt.Sprintf("failures that may be repeated (busy, lost): %d, of which %d were repeated", s.RepeatableFailures, s.RepeatedFailures),
		fmt.Sprintf("different links to a next page: %d, of which %d were followed", s.Links, s.Followed),
	}
	if s.LostWithoutKey > 0 {
		lines[2] += fmt.Sprintf("; not counted: %d lost creations without an Idempotency-Key", s.LostWithoutKey)
	}
	if len(s.Met) > 0 {
		lines = append(lines, "difficulties met: "+counts(s.Met))
	}
	return strings.Join(lines, "\n")
}

// counts returns the sum of m, and its entries in order, such as 4 (400: 3, 415: 1).
func counts[K cmp.Ordered](m map[K]int) string {
	sum := 0
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		sum += m[key]
		entries = append(entries, fmt.Sprintf("%v: %d", key, m[key]))
	}
	if len(entries) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", sum, strings.Join(entries, ", "))
}

// Summary returns what h has seen so far.
func (h *Handler) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.seen
	s.Findings = slices.Clone(s.Findings)
	s.Requests, s.Refused, s.Met = maps.Clone(s.Requests), maps.Clone(s.Refused), maps.Clone(s.Met)
	s.Links = len(h.links)
	for _, followed := range h.links {
		if followed {
			s.Followed++
		}
	}
	return s
}

// met counts a difficulty.
func (h *Handler) met(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.Met[name]++
}

// see counts x, judges it and writes its line. It must be called before the response is
// sent, so that it sees x before anything that the client does because of x.
func (h *Handler) see(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x.ended = time.Now()
	h.count(x)
	h.judge(x)
	if x.isCreate() && x.done {
		h.created[x.identity()] = x
	}
	if h.Log != nil {
		fmt.Fprintf(h.Log, "%s %q %s\n", x.request.Method, x.request.RequestURI, x.result())
	}
}

// count counts what x is, and what it follows.
func (h *Handler) count(x *exchange) {
	h.seen.Requests[x.operation()]++
	failed := h.unrepeated[x.identity()]
	if len(failed) > 0 && x.began.After(failed[0].ended) {
		h.seen.RepeatedFailures++
		h.unrepeated[x.identity()] = failed[1:]
	}
	query := x.request.URL.RawQuery
	if _, linked := h.links[query]; linked && x.operation() == "GET /pets" {
		h.links[query] = true
	}
	switch {
	case x.failure == "lost" && x.isCreate() && x.idempotencyKey() == "":
		h.seen.LostWithoutKey++
	case x.failure != "":
		h.seen.RepeatableFailures++
		h.unrepeated[x.identity()] = append(h.unrepeated[x.identity()], x)
	case x.status/100 == 4:
		h.seen.Refused[x.status]++
	case x.status/100 == 2 && x.operation() != otherOperation:
		h.seen.Succeeded++
		if next := x.nextPage(); next != "" && !h.links[next] {
			h.links[next] = false
		}
	}
}
