package petstoretest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Summary is what a [Handler] has seen of its clients.
type Summary struct {
	Findings []Finding // the mistakes

	Requests  int
	Succeeded int // how many got a whole response of 2xx
	Refused   int // how many got a 4xx, but for a difficulty

	// Failures counts the requests that failed on purpose and that the client may repeat: not
	// lost creations without an Idempotency-Key. An equal request followed Repeated of them.
	Failures, Repeated int

	// Links counts the different links to a next page. The client requested Followed of them.
	Links, Followed int
}

// String returns the counts, without the findings.
func (s Summary) String() string {
	return fmt.Sprintf("requests: %d, of which %d succeeded and %d were refused for a reason\n"+
		"failures that may be repeated (busy, lost): %d, of which %d were repeated\n"+
		"different links to a next page: %d, of which %d were followed",
		s.Requests, s.Succeeded, s.Refused, s.Failures, s.Repeated, s.Links, s.Followed)
}

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name  string // such as repeated-without-key
	Count int
	First string // what the client did the first time, its request, and what is right
}

func (f Finding) String() string { return fmt.Sprintf("%s (%d): %s", f.Name, f.Count, f.First) }

// Summary returns what h has seen so far.
func (h *Handler) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.seen
	s.Findings = slices.Clone(s.Findings)
	s.Links = len(h.links)
	for _, followed := range h.links {
		if followed {
			s.Followed++
		}
	}
	return s
}

// see logs, judges and counts x, before the client is sent its response.
func (h *Handler) see(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x.ended = time.Now()
	if h.Log != nil {
		sent := fmt.Sprint(x.status)
		if x.status == 0 {
			sent = "no response"
		} else if x.cut {
			sent += ", cut in the middle"
		} else if x.status >= 400 {
			sent += " " + strings.Join(strings.Fields(string(x.response)), " ") // one line
		}
		fmt.Fprintf(h.Log, "%s %q %s\n", x.request.Method, x.request.RequestURI, sent)
	}
	h.find(x, "repeated-without-key", h.createdTwice(x),
		"Repeat a creation with its Idempotency-Key, or report that it may have been carried out.")
	h.find(x, "ignored-retry-after", h.ignoredRetryAfter(x),
		"Wait as long as Retry-After says before you repeat the request.")
	h.find(x, "rounded-id", h.roundedID(x),
		"IDs are of format int64: keep them exactly, not as float64 or int32.")
	h.find(x, "own-cursor", ownCursor(x),
		`To get the next page, follow the Link with rel="next", if there is one.`)
	h.count(x)
	if x.creates() && x.done {
		h.created[x.identity()] = x
	}
}

// linked matches a link to the next page of a server of this module.
var linked = regexp.MustCompile(`^<\?(.*)>; rel="next"`)

func (h *Handler) count(x *exchange) {
	h.seen.Requests++
	id := x.identity()
	if failed := h.repeat[id]; len(failed) > 0 && !x.began.Before(failed[0].ended) {
		h.seen.Repeated++
		h.repeat[id] = failed[1:]
	}
	if _, ok := h.links[x.request.URL.RawQuery]; ok {
		h.links[x.request.URL.RawQuery] = true
	}
	switch {
	case x.failed && x.cut && x.creates() && x.key() == "":
	case x.failed:
		h.seen.Failures++
		h.repeat[id] = append(h.repeat[id], x)
	case x.status/100 == 4:
		h.seen.Refused++
	case x.done:
		h.seen.Succeeded++
		if m := linked.FindStringSubmatch(x.header.Get("Link")); m != nil && !h.links[m[1]] {
			h.links[m[1]] = false
		}
	}
}

// find adds a finding, unless did is "".
func (h *Handler) find(x *exchange, name, did, right string) {
	if did == "" {
		return
	}
	i := slices.IndexFunc(h.seen.Findings, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		i = len(h.seen.Findings)
		first := fmt.Sprintf("the client %s.\n%.400q\n%s", did, x.identity(), right)
		h.seen.Findings = append(h.seen.Findings, Finding{Name: name, First: strings.ReplaceAll(first, Key, "[key]")})
	}
	h.seen.Findings[i].Count++
}

// createdTwice finds a creation that follows an equal one whose response was lost, with
// another key or none.
func (h *Handler) createdTwice(x *exchange) string {
	first := h.created[x.identity()]
	if first == nil || !x.done || !first.cut || x.began.Before(first.ended) || x.key() != "" && x.key() == first.key() {
		return ""
	}
	return fmt.Sprintf("repeated a creation whose response was lost, with the Idempotency-Key %q after %q, so there are two", x.key(), first.key())
}

func (h *Handler) ignoredRetryAfter(x *exchange) string {
	first := h.mustWait
	if first == nil || first.identity() != x.identity() || first.key() != x.key() {
		return ""
	}
	waited := x.began.Sub(first.ended)
	if waited <= 0 || waited > 900*time.Millisecond { // clocks differ
		return ""
	}
	return fmt.Sprintf("repeated a request %v after a response with Retry-After: %s", waited, first.header.Get("Retry-After"))
}

func (h *Handler) roundedID(x *exchange) string {
	text, ok := strings.CutPrefix(x.path(), "/pets/")
	if !ok || x.status != http.StatusNotFound || !h.options.Difficult {
		return ""
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	stats, _ := h.store.Stats(x.request.Context())
	for stored := range stats.Pets {
		id := shown(stored + 1)
		f := float64(id)
		rounded := []string{ // a float64 with all digits, as JavaScript writes it, and with an exponent; an int32
			strconv.FormatFloat(f, 'f', 0, 64), strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'g', -1, 64), fmt.Sprint(int32(id)),
		}
		if slices.Contains(rounded, text) && (n < id-1 || n > id+1) { // neighbours may be requested on purpose
			return fmt.Sprintf("rounded the ID %d to %s", id, text)
		}
	}
	return ""
}

// paging matches what other services use for paging.
var paging = regexp.MustCompile(`(?i)(?:^|&)(page(?:[_-]?(?:no|number|token))?|next[_-]?token|offset|skip|start|(?:start[_-]?)?after|before)=`)

func ownCursor(x *exchange) string {
	m := paging.FindStringSubmatch(x.request.URL.RawQuery)
	if m == nil || x.path() != "/pets" {
		return ""
	}
	return fmt.Sprintf("sent the query parameter %q, which neither the contract nor a Link has", m[1])
}
