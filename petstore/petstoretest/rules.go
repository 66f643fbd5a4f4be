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

// rule finds one kind of mistake.
type rule struct {
	name  string
	right string                               // what would be right
	find  func(h *Handler, x *exchange) string // what the client did; "": x is no mistake
}

var rules = []rule{
	{"repeated-without-key", "Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.", createdTwice},
	{"ignored-retry-after", "Wait as long as Retry-After says before you repeat the request.", ignoredRetryAfter},
	{"rounded-id", "IDs are of format int64: keep them exactly, not as floating-point numbers or 32-bit integers.", roundedID},
	{"own-cursor", "The contract has no parameters for paging. To get the next page, follow the Link with rel=\"next\", if there is one.", ownCursor},
}

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name    string // such as repeated-without-key
	Count   int
	Did     string // what the client did, the first time
	Request string // with which it did so, on one line, without API keys
	Right   string // what would be right
}

// String returns the finding as a text of several lines.
func (f Finding) String() string {
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (the first of %d)", f.Count)
	}
	return fmt.Sprintf("%s: the client %s%s.\n%s\n%s", f.Name, f.Did, times, f.Request, f.Right)
}

// judge finds mistakes in x.
func (h *Handler) judge(x *exchange) {
	hide := strings.NewReplacer(Key, "[key]")
	for _, r := range rules {
		did := r.find(h, x)
		if did == "" {
			continue
		}
		i := slices.IndexFunc(h.seen.Findings, func(f Finding) bool { return f.Name == r.name })
		if i >= 0 {
			h.seen.Findings[i].Count++
			continue
		}
		request := strings.TrimSpace(hide.Replace(x.request.Method + " " + x.request.RequestURI + " " + string(x.body)))
		if len(request) > 500 {
			request = request[:500] + "..."
		}
		h.seen.Findings = append(h.seen.Findings, Finding{r.name, 1, hide.Replace(did), fmt.Sprintf("%#q", request), r.right})
	}
}

// createdTwice finds a creation that follows an equal one whose response was lost, and that
// has another key or none. The server has created a second pet or message.
func createdTwice(h *Handler, x *exchange) string {
	first := h.created[x.identity()]
	if first == nil || !x.done || !first.cut || x.began.Before(first.ended) {
		return ""
	}
	if key := x.idempotencyKey(); key != "" && key == first.idempotencyKey() {
		return ""
	}
	sent := "without an Idempotency-Key"
	if now, before := x.idempotencyKey(), first.idempotencyKey(); now+before != "" {
		sent = fmt.Sprintf("with the Idempotency-Key %q and not %q as before", now, before)
	}
	return fmt.Sprintf("repeated %s after its response was lost, %s, so the server carried it out twice",
		x.operation(), sent)
}

// ignoredRetryAfter finds a creation that was repeated earlier than Retry-After allows.
func ignoredRetryAfter(h *Handler, x *exchange) string {
	first := h.mustWait
	if first == nil || first.identity() != x.identity() || first.idempotencyKey() != x.idempotencyKey() {
		return ""
	}
	waited := x.began.Sub(first.ended)
	if waited <= 0 || waited > 900*time.Millisecond { // clocks differ
		return ""
	}
	return fmt.Sprintf("repeated a request %.2f s after the response of %s, although that had Retry-After: %s",
		waited.Seconds(), first.ended.UTC().Format("15:04:05.000 UTC"), first.header.Get("Retry-After"))
}

// roundedID finds a request for a pet with a rounded form of an ID of the difficulty ids.
func roundedID(h *Handler, x *exchange) string {
	text, ok := strings.CutPrefix(x.request.URL.Path, basePath+"/pets/")
	if !ok || x.status != http.StatusNotFound || !h.has("ids") {
		return ""
	}
	stats, _ := h.store.Stats(x.request.Context())
	for stored := range stats.Pets {
		if id := shownID(stored + 1); slices.Contains(roundings(id), text) {
			return fmt.Sprintf("requested pet %s, which is a rounded form of the ID %d", text, id)
		}
	}
	return ""
}

// roundings returns what n becomes in a program that keeps it as a float64, with all digits,
// as JavaScript writes it, with zeros at the end, and with an exponent, or as an int32. It
// leaves out the numbers next to n, which somebody may request on purpose.
func roundings(n int64) []string {
	f := float64(n)
	all := []string{
		strconv.FormatFloat(f, 'f', 0, 64), strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'g', -1, 64),
		strconv.FormatInt(int64(int32(n)), 10),
	}
	return slices.DeleteFunc(all, func(text string) bool {
		r, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n-1 <= r && r <= n+1
	})
}

// paging matches a query parameter that other services use for paging.
var paging = regexp.MustCompile(`(?i)(?:^|&)(` + strings.Join([]string{
	`page`,
	`page(?:%5B|\[)(?:number|offset|after|cursor)(?:%5D|\])`, // page[number]
	`page[_-]?(?:no|number|token)`,
	`next[_-]?token`,
	`offset`,
	`skip`,
	`start`,
	`(?:start(?:ing)?[_-]?)?after`,
	`before`,
}, "|") + `)=`)

// ownCursor finds a list that is requested with a parameter for paging.
func ownCursor(h *Handler, x *exchange) string {
	m := paging.FindStringSubmatch(x.request.URL.RawQuery)
	if m == nil || x.operation() != "GET /pets" {
		return ""
	}
	return fmt.Sprintf("sent the query parameter %q, which neither the contract nor a Link of this server has", m[1])
}
