package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// What a report says of a run as a whole: why it is not enough to judge the target, what the
// target did not serve, and what the run left behind.

// notJudged returns why the run does not show that the target conforms, even if no check
// fails; "": it does.
func (j *job) notJudged(h *history, record stimuli.Record) string {
	if record.Ended != nil {
		return h.ended(record.Ended, j.redact)
	}
	never, pets := 0, 0 // requests for pets that were never served, and all
	var example *exchange
	for _, x := range slices.Concat(h.all, h.unserved) {
		if x.SentAgain || x.op == probe.SubmitMessage {
			continue
		}
		pets++
		if !x.Served() {
			never++
			example = x
		}
	}
	switch {
	case never*20 > pets:
		return fmt.Sprintf("the target did not serve %d of %d requests for pets, even when they were sent again: %s",
			never, pets, example.Failure())
	case !j.opts.ReadOnly && len(h.added) == 0:
		return "the target has added no pet"
	}
	return ""
}

// ended returns why the run ended early. If the target stopped responding, it begins with the
// requests that were under way then: one of them may be the cause.
func (h *history) ended(cause error, redact probe.Redactor) string {
	var under []*exchange
	for _, x := range h.unserved {
		lost := x.Status == 0 && !probe.IsTimeout(x.Err) && !errors.Is(x.Err, context.Canceled)
		if lost && (under == nil || x.Sent.Before(under[0].Received)) {
			under = append(under, x)
		}
	}
	if under == nil {
		return cause.Error()
	}
	var names []string
	commands := ""
	for _, x := range under {
		name := x.op
		if kind := x.kind(); strings.HasPrefix(kind, "GET ") {
			name = kind
		} else if kind != "" {
			name += " with " + kind
		}
		names = append(names, name)
		commands += "\n" + x.Curl(redact)
	}
	which := "after this request"
	if len(names) > 1 {
		which = "after one of these requests"
	}
	return fmt.Sprintf("the target stopped responding, perhaps %s: %s\n%v%s", which, strings.Join(names, "; "), cause, commands)
}

// errOtherWriter ends a run for the checks.
var errOtherWriter = errors.New("another client has changed the pets")

func otherWriterReason(list *exchange, p probe.Pet) string {
	return fmt.Sprintf("another client has added a pet during the run: GET %s shows the pet %d with the name %s, "+
		"which was not there before and which the run did not send; judge a server that nobody else uses",
		list.Request.Path, p.ID, probe.Short(fmt.Sprintf("%q", p.Name)))
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
		case errors.Is(x.Err, context.Canceled):
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
