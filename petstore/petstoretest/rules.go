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
	right string                                 // what would be right
	find  func(d *difficult, x *exchange) string // what the client did; "": x is no mistake
}

var rules = []rule{
	{"repeated-without-key", "Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.", createdTwice},
	{"ignored-retry-after", "Wait as long as Retry-After says before you repeat the request.", ignoredRetryAfter},
	{"rounded-id", "IDs are of format int64: keep them exactly, not as floating-point numbers or 32-bit integers.", roundedID},
	{"own-cursor", "The contract has no parameters for paging. To get the next page, follow the Link with rel=\"next\", if there is one.", ownCursor},
}

// see judges x. It must be called before the response is sent, so that it sees x before
// anything that the client does because of x.
func (d *difficult) see(x *exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x.ended = time.Now()
	for _, name := range x.met {
		d.seen.Met[name]++
	}
	if x.done && !x.cut {
		d.seen.Succeeded++
	}
	for _, r := range rules {
		did := r.find(d, x)
		i := slices.IndexFunc(d.seen.Findings, func(f Finding) bool { return f.Name == r.name })
		switch {
		case did == "":
		case i >= 0:
			d.seen.Findings[i].Count++
		default:
			hide := strings.NewReplacer(d.Key, "[key]")
			request := strings.TrimSpace(hide.Replace(x.method + " " + x.target + " " + string(x.body)))
			if len(request) > 500 {
				request = request[:500] + "..."
			}
			d.seen.Findings = append(d.seen.Findings, Finding{r.name, 1, hide.Replace(did), fmt.Sprintf("%#q", request), r.right})
		}
	}
	if x.isCreate() && x.done {
		d.created[x.creation()] = x
	}
}

// createdTwice finds a creation that follows an equal one whose response was lost, and that
// has another key or none, so a second pet or message was created.
func createdTwice(d *difficult, x *exchange) string {
	first := d.created[x.creation()]
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
	return fmt.Sprintf("repeated POST %s after its response was lost, %s, so the server may carry it out twice", x.path, sent)
}

// ignoredRetryAfter finds a creation that was repeated earlier than Retry-After allows.
func ignoredRetryAfter(d *difficult, x *exchange) string {
	first := d.busy
	if first == nil || first.request() != x.request() || x.began.Before(first.ended) || x.began.Sub(first.ended) > 900*time.Millisecond { // clocks differ
		return ""
	}
	return fmt.Sprintf("repeated a request %.2f s after the response of %s, although that had Retry-After: %s",
		x.began.Sub(first.ended).Seconds(), first.ended.UTC().Format("15:04:05.000 UTC"), first.header.Get("Retry-After"))
}

// roundedID finds a request for a pet with a rounded form of an ID.
func roundedID(d *difficult, x *exchange) string {
	text, ok := x.petID()
	if !ok || x.status != http.StatusNotFound {
		return ""
	}
	for id := range d.shown.Range {
		if slices.Contains(roundings(id.(int64)), text) {
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
		return err == nil && uint64(r-n+1) <= 2
	})
}

// paging matches a query parameter that other services use for paging.
var paging = regexp.MustCompile(`(?i)(?:^|&)(page(?:(?:%5B|\[)(?:number|offset|after|cursor)(?:%5D|\]))?|page[_-]?(?:no|number|token)|next[_-]?token|offset|skip|start|(?:start(?:ing)?[_-]?)?after|before)=`)

// ownCursor finds a list that is requested with a parameter for paging that no Link of this
// server has.
func ownCursor(d *difficult, x *exchange) string {
	m := paging.FindStringSubmatch(x.query)
	if m == nil || x.path != "/pets" || d.Handler != nil { // an own handler may have other links
		return ""
	}
	return fmt.Sprintf("sent the query parameter %q, which was in no Link of this server", m[1])
}

// petID returns the last part of the path of a GET /pets/{petId}. ok is false for
// another operation.
func (x *exchange) petID() (id string, ok bool) {
	id, ok = strings.CutPrefix(x.path, "/pets/")
	return id, ok && !strings.Contains(id, "/") && (x.method == "GET" || x.method == "HEAD")
}
