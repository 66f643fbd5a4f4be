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

// Outcome is the outcome of a run.
type Outcome string

const (
	Conformant    Outcome = "conformant"
	NotConformant Outcome = "not conformant"
	// Partial: no check failed, and some were left out by the options or because the
	// target has no messages.
	Partial Outcome = "partial"
	// NotJudged: no check failed, and the run does not show that the target conforms.
	// [Report.Reason] says why.
	NotJudged Outcome = "not judged"
)

// Verdict is what a check says about a run.
type Verdict string

const (
	Pass Verdict = "pass"
	Fail Verdict = "fail" // an exchange violates a check of the level that counts
	Warn Verdict = "warn" // an exchange violates another check
	Skip Verdict = "skip" // the check was left out, or the run did not show what it judges
)

// Result is the result of one check.
type Result struct {
	Check
	Verdict Verdict `json:"verdict"`

	// Message says what is wrong, or why the check was skipped.
	Message string `json:"message,omitzero"`

	Judged     int `json:"judged"`     // how many exchanges the check judged
	Violations int `json:"violations"` // how many of them violate it

	// Kinds says what is unusual about the requests that violate the check, each kind once.
	// It is empty if an ordinary request violates the check, too.
	Kinds []string `json:"kinds,omitzero"`

	// Before is the exchange whose request comes first, such as the one that added the pet.
	// Nil: there is none.
	Before *Proof `json:"before,omitzero"`

	// Proof is the exchange that Message is about. Nil: there is none.
	Proof *Proof `json:"proof,omitzero"`

	leftOut bool // by an option, or because the target has no messages
}

// ReportFormat names the format of a report in JSON. It changes when a member is
// removed or changes its meaning, not when one is added.
const ReportFormat = "petstore-conformance/1"

// Report is the result of a run. Package report writes it as text, JSON or
// JUnit XML.
type Report struct {
	Format      string  `json:"format"`
	Outcome     Outcome `json:"outcome"`
	URL         string  `json:"url"`
	MessagesURL string  `json:"messagesUrl,omitzero"`

	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Requests int       `json:"requests"` // how many were sent

	// Reason says why the run is not enough to judge the target, for example because it
	// ended early. Empty: it is enough.
	Reason string `json:"reason,omitzero"`

	// Counts has the number of checks by verdict.
	Counts map[Verdict]int `json:"counts"`

	// Left says what the run created. The contract has no way to delete it.
	Left string `json:"left,omitzero"`

	// Unserved counts the requests that the target did not serve, by the reason, such as
	// 503 Service Unavailable or lost connection. Most of them were sent again, and each time
	// counts. It is empty if all were served.
	Unserved map[string]int `json:"unserved,omitzero"`

	Results []Result `json:"results"`
}

// report returns the report of a run.
func (s *session) report(began time.Time, h *history) *Report {
	r := &Report{
		Format:      ReportFormat,
		URL:         s.target.URL,
		MessagesURL: s.target.MessagesURL,
		Began:       began.UTC().Truncate(time.Millisecond),
		Seconds:     time.Since(began).Seconds(),
		Requests:    len(s.exchanges),
		Left:        h.left(),
		Unserved:    h.countUnserved(),
		Counts:      make(map[Verdict]int),
	}
	if s.messages {
		r.MessagesURL = s.client.MessagesURL
	}
	stopped := context.Cause(s.ctx)
	partial := false
	for _, c := range Checks() {
		result := s.result(h.judge(c), stopped)
		r.Results = append(r.Results, result)
		r.Counts[result.Verdict]++
		partial = partial || result.leftOut
	}
	reason := s.notJudged(h, stopped)
	if reason == "" && r.Counts[Pass]+r.Counts[Warn]+r.Counts[Fail] == 0 {
		reason = "the run shows nothing that the checks judge"
	}
	switch {
	case r.Counts[Fail] > 0:
		r.Outcome = NotConformant
	case reason != "":
		r.Outcome = NotJudged
	case partial:
		r.Outcome = Partial
	default:
		r.Outcome = Conformant
	}
	r.Reason = s.redact.Show(reason)
	return r
}

// result returns the result of a check.
func (s *session) result(j judgement, stopped error) Result {
	r := Result{Check: j.check, Verdict: Pass, Judged: j.judged, Violations: len(j.violations)}
	skip := func(why string) { r.Verdict, r.Message = Skip, s.redact.Show(why) }
	leaveOut := func(why string) { r.leftOut = true; skip(why) }
	switch {
	case !s.selected[r.ID]:
		r.Violations, r.Judged = 0, 0
		leaveOut("not selected")
	case len(j.violations) > 0:
		r.Verdict = Warn
		if r.Level == Required || s.opts.Level == Recommended {
			r.Verdict = Fail
		}
		v := j.violations[0]
		r.Message, r.Proof = s.redact.Show(v.text), newProof(v.x.Exchange, s.redact)
		if v.before != nil && v.before != v.x {
			r.Before = newProof(v.before.Exchange, s.redact)
		}
		for _, v := range j.violations {
			kind := s.redact.Show(r.kind(v.x))
			if kind == "" {
				r.Kinds = nil
				break
			}
			if !slices.Contains(r.Kinds, kind) {
				r.Kinds = append(r.Kinds, kind)
			}
		}
	case j.judged > 0:
	case j.unserved != nil:
		skip("the target does not serve the request: " + noResponse(j.unserved.Exchange))
	case s.opts.ReadOnly && stopped == nil:
		leaveOut("read-only")
	case strings.HasPrefix(r.ID, "messages.") && !s.messages && stopped == nil:
		leaveOut("no messages URL")
	case stopped != nil:
		skip("the run ended before")
	default:
		skip("no exchange of the run shows it")
	}
	return r
}

// maxSilent is how many requests at the end of a run need not be served.
const maxSilent = 20

// notJudged returns why the run does not show that the target conforms, even if no check
// fails; "": it does.
func (s *session) notJudged(h *history, stopped error) string {
	if stopped != nil {
		return h.ended(stopped, s.redact)
	}
	var first *exchange // the first creation
	for _, x := range h.all {
		if x.op == opCreate && x.sent != nil {
			first = x
			break
		}
	}
	silent := h.unserved
	if len(h.all) > 0 {
		last := h.all[len(h.all)-1].Sent
		silent = slices.DeleteFunc(slices.Clone(silent), func(x *exchange) bool { return x.Sent.Before(last) })
	}
	switch {
	case !s.opts.ReadOnly && len(h.added) == 0 && first != nil && first.Status == http.StatusBadRequest:
		return fmt.Sprintf("the target refuses every pet, first with %s %s; name a category that it accepts (-category)", first.StatusLine(), probe.Cut(string(first.Body), 200))
	case !s.opts.ReadOnly && len(h.added) == 0:
		return "the target has added no pet"
	case len(silent) > maxSilent:
		return fmt.Sprintf("the target did not serve the last %s: %s", probe.Plural(len(silent), "request"), noResponse(silent[0].Exchange))
	}
	return ""
}

// ended returns why the run ended early, and the first requests that got no response: one
// of them may be the cause.
func (h *history) ended(cause error, redact probe.Redactor) string {
	var first []string
	for _, x := range h.unserved {
		if x.Status == 0 && !x.Repeated && !errors.Is(x.Err, context.Canceled) && len(first) < 5 {
			first = append(first, "\n"+x.Curl(redact))
		}
	}
	if first == nil {
		return cause.Error()
	}
	return cause.Error() + "\nthe first requests that got no response; one of them may be the cause:" + strings.Join(first, "")
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
			if id, ok := addedID(x.Exchange); ok {
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
	return fmt.Sprintf("%s%s and %s, most named %s…", probe.Plural(pets, "pet"), shown, probe.Plural(messages, "message"), h.mark)
}

// countUnserved counts the requests that were not served, by the reason.
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
