package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// What a report says of a run as a whole: why it is not enough to judge the target, what the
// target did not serve, and what the run left behind.

// notJudged returns why the run does not show that the target conforms, even if no check
// fails; "": it does. If another client has added p, list shows it.
func (j *job) notJudged(h *history, ended error, list *exchange, p probe.Pet) string {
	switch {
	case ended != nil:
		return h.ended(ended, j.redact)
	case list != nil:
		return fmt.Sprintf("GET %s shows the pet %d with the name %s, which was not there before and which the run "+
			"did not send: another client has added it, or the target has; judge a server that nobody else uses",
			list.Request.Path, p.ID, probe.Short(fmt.Sprintf("%q", p.Name)))
	case !j.opts.ReadOnly && len(h.added) == 0:
		return "the target has added no pet whose id it shows"
	}
	return ""
}

// notServed says which requests were never served. Those that the target need not respond to do
// not count. "": all were served.
func (h *history) notServed() string {
	never := slices.DeleteFunc(slices.Clone(h.unserved), func(x *exchange) bool { return x.SentAgain || x.mayBeLost() })
	if len(never) == 0 {
		return ""
	}
	return fmt.Sprintf("the target never served %s, even when sent again, such as %s: %s",
		probe.Plural(len(never), "request"), never[0].title(), never[0].Failure())
}

// ended returns why the run ended early. If the target stopped responding, it begins with the
// requests that were under way then: one of them may be the cause.
func (h *history) ended(cause error, redact probe.Redactor) string {
	var lastServed time.Time
	if len(h.all) > 0 {
		lastServed = h.all[len(h.all)-1].Sent
	}
	var under []*exchange
	for _, x := range h.unserved {
		if x.Status != 0 || x.mayBeLost() || x.Received.Before(lastServed) {
			continue
		}
		if under == nil || x.Sent.Before(under[0].Received) {
			under = append(under, x)
		}
	}
	if under == nil || errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	var names []string
	commands := ""
	for _, x := range under {
		names = append(names, x.title())
		commands += "\n" + x.Curl(redact)
	}
	which := "after this request"
	if len(names) > 1 {
		which = "after one of these requests"
	}
	return fmt.Sprintf("the target stopped responding, perhaps %s: %s\n%v%s",
		which, strings.Join(names, "; "), cause, commands)
}

// left says what the run created.
func (h *history) left() string {
	pets, messages := 0, 0
	var ids []int64
	for _, x := range h.all {
		switch {
		case x.Request.Method != http.MethodPost || !x.Succeeded():
		case x.Request.ForMessages():
			messages++
		default:
			pets++
			if id, ok := x.AddedID(); ok {
				ids = append(ids, id)
			}
		}
	}
	if pets+messages == 0 {
		return ""
	}
	shown := ""
	if len(ids) > 0 {
		shown = fmt.Sprintf(" (ids from %d to %d)", slices.Min(ids), slices.Max(ids))
	}
	return fmt.Sprintf("%s%s and %s, most named %s…",
		probe.Plural(pets, "pet"), shown, probe.Plural(messages, "message"), h.mark)
}

// countUnserved counts the exchanges that were not served, by the reason.
func (h *history) countUnserved() map[string]int {
	counts := make(map[string]int)
	for _, x := range h.unserved {
		switch {
		case x.Status != 0:
			counts[x.StatusLine()]++
		case probe.IsTimeout(x.Err):
			counts["no response in time"]++
		default:
			counts["lost connection"]++
		}
	}
	return counts
}
