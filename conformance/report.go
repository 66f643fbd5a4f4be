package conformance

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Outcome is the outcome of a run.
type Outcome string

const (
	Conformant    Outcome = "conformant"
	NotConformant Outcome = "not conformant"
	// Partial: no violation was found, but some checks were skipped.
	Partial Outcome = "partial"
	// Incomplete: no violation was found, but some checks ended with an error,
	// or none could judge the target.
	Incomplete Outcome = "incomplete"
)

// Verdict is what a check says about a run.
type Verdict string

const (
	Pass Verdict = "pass"
	Fail Verdict = "fail" // an exchange violates a required check
	Warn Verdict = "warn" // an exchange violates a recommended check
	Skip Verdict = "skip" // the check was not selected, or the run could not show what it judges

	// Inconclusive: in the state that the target is in, the check cannot tell.
	Inconclusive Verdict = "inconclusive"

	// Errored: the target did not serve the requests that the check judges.
	Errored Verdict = "error"
)

// Result is the result of one check.
type Result struct {
	Check
	Verdict Verdict `json:"verdict"`

	// Message says what is wrong, or why the check could not tell.
	Message string `json:"message,omitzero"`

	// Cause is the ID of a more basic check that the same exchanges or pets violate:
	// this failure may have no cause of its own. Empty: there is none.
	Cause string `json:"cause,omitzero"`

	// Again says whether Proof was a violation again when its request was sent once
	// more, alone: "yes" or "no". Empty: it was not sent, or the response says nothing.
	Again string `json:"again,omitzero"`

	// Known is why the check is expected to fail. Stale says that it passed.
	Known string `json:"known,omitzero"`
	Stale bool   `json:"stale,omitzero"`

	// Judged is how many exchanges the check judged, and Violations how many of them
	// violate it. Proof is the one that Message is about. Nil: there is none.
	Judged     int       `json:"judged"`
	Violations int       `json:"violations"`
	Proof      *Exchange `json:"proof,omitzero"`
}

// LeftBehind is what a run created. The contract has no way to delete it.
type LeftBehind struct {
	Mark     string  `json:"mark"` // in most names and texts of the run
	Pets     int     `json:"pets"` // how many
	IDs      []int64 `json:"ids"`  // theirs, as far as they can be read
	Messages int     `json:"messages"`
}

// Counts has the number of checks by verdict. A known failure is counted in
// Known alone, and a check in Stale is counted in Pass too.
type Counts struct {
	Pass         int `json:"pass"`
	Fail         int `json:"fail"`
	Warn         int `json:"warn"`
	Skip         int `json:"skip"`
	Inconclusive int `json:"inconclusive"`
	Errored      int `json:"error"`
	Known        int `json:"known"`
	Stale        int `json:"stale"`
}

// ReportFormat names the format of a report in JSON. It changes when a member is
// removed or changes its meaning, not when one is added.
const ReportFormat = "petstore-conformance/3"

// Report is the result of a run. Package report writes it as text, JSON or
// JUnit XML.
type Report struct {
	Format      string  `json:"format"`
	Outcome     Outcome `json:"outcome"`
	URL         string  `json:"url"`
	MessagesURL string  `json:"messagesUrl,omitzero"`

	Level    Level     `json:"level"`
	ReadOnly bool      `json:"readOnly"`
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`

	Requests int `json:"requests"` // how many were sent

	// Stopped says why the run ended early, and Last has the requests that got no
	// response then. Empty: it did not.
	Stopped string     `json:"stopped,omitzero"`
	Last    []Exchange `json:"last,omitzero"`

	Counts Counts     `json:"counts"`
	Left   LeftBehind `json:"left"`

	// Retries counts what made the suite send requests again, as in 503 Service
	// Unavailable or lost connection. It is empty if none was sent again.
	Retries map[string]int `json:"retries,omitzero"`

	Results []Result `json:"results"`
}

// Passed reports whether no check that was run counts against the target, none
// ended with an error, and no known failure passed.
func (r *Report) Passed() bool {
	return (r.Outcome == Conformant || r.Outcome == Partial) && r.Counts.Stale == 0
}

// report returns the report of a run.
func (s *session) report(began time.Time, h *history, judgements []judgement) *Report {
	r := &Report{
		Format:      ReportFormat,
		URL:         s.target.URL,
		MessagesURL: s.target.MessagesURL,
		Level:       s.opts.Level,
		ReadOnly:    s.opts.ReadOnly,
		Began:       began.UTC().Truncate(time.Millisecond),
		Seconds:     time.Since(began).Seconds(),
		Requests:    len(s.client.Exchanges()),
		Left:        LeftBehind{Mark: s.mark},
		Retries:     retries(h),
	}
	r.Left.add(s.client.Exchanges())
	if s.messages {
		r.MessagesURL = s.client.MessagesURL
	}
	if err := context.Cause(s.ctx); err != nil {
		r.Stopped = s.redact.Show(err.Error())
	}
	if r.Stopped != "" {
		for _, x := range h.last() {
			r.Last = append(r.Last, newExchange(x.Exchange, s.redact))
		}
	}
	for i, j := range judgements {
		result := s.result(j, r.Stopped)
		if result.Violations > 0 {
			result.Cause = causeOf(j, judgements[:i])
		}
		r.Results = append(r.Results, result)
		r.Counts.add(result)
	}
	r.Outcome = outcomeOf(r.Counts, r.Level)
	if r.Stopped != "" && r.Outcome != NotConformant {
		r.Outcome = Incomplete
	}
	return r
}

// last returns the first requests that got no response, and none when they were sent
// again: one of them may be why there is none any more.
func (h *history) last() []*exchange {
	key := func(x *exchange) string { return x.Request.Method + x.Request.Path + string(x.Request.Body) }
	served := make(map[string]bool)
	for _, x := range h.all {
		served[key(x)] = true
	}
	var last []*exchange
	for _, x := range slices.Concat(h.repeated, h.unserved) {
		if x.Status == 0 && x.Attempts == 1 && !served[key(x)] && !errors.Is(x.Err, context.Canceled) {
			last = append(last, x)
		}
	}
	slices.SortFunc(last, func(a, b *exchange) int { return a.Sent.Compare(b.Sent) })
	return last[:min(len(last), 5)]
}

// result returns the result of a check.
func (s *session) result(j judgement, stopped string) Result {
	r := Result{Check: j.check, Verdict: Pass, Judged: j.judged, Violations: len(j.violations), Again: j.again}
	switch {
	case s.skip[r.ID]:
		r.Verdict, r.Message, r.Violations, r.Judged = Skip, "not selected", 0, 0
	case len(j.violations) > 0:
		v := j.violations[0]
		r.Verdict = map[Level]Verdict{Required: Fail, Recommended: Warn}[r.Level]
		r.Message = s.redact.Show(v.text)
		proof := newExchange(v.x.Exchange, s.redact)
		r.Proof = &proof
	case j.judged > 0:
	case s.opts.ReadOnly && stopped == "":
		r.Verdict, r.Message = Skip, "read-only"
	case r.ofMessages() && !s.messages:
		r.Verdict, r.Message = Skip, "no messages URL"
	case j.check.idle && stopped == "":
	case j.unserved != nil && j.unserved.Err != nil:
		r.Verdict, r.Message = Errored, s.redact.Show(j.unserved.Err.Error())
	case j.unserved != nil:
		r.Verdict, r.Message = Errored, "the target responds "+j.unserved.StatusLine()+" and does not serve the request"
	case stopped != "":
		r.Verdict, r.Message = Errored, stopped
	default:
		r.Verdict, r.Message = Inconclusive, "no exchange of the run shows it"
	}
	if reason, ok := s.known[r.ID]; ok {
		r.Known, r.Stale = reason, r.Verdict == Pass
	}
	return r
}

// causeOf returns the ID of the most basic check that all exchanges, or all pets, that
// violate j violate too.
func causeOf(j judgement, basic []judgement) string {
	for _, b := range basic {
		if b.check.Level == j.check.Level && !slices.ContainsFunc(j.violations, func(v violation) bool {
			return !slices.ContainsFunc(b.violations, func(w violation) bool { return v.x == w.x || v.pet != 0 && v.pet == w.pet })
		}) {
			return b.check.ID
		}
	}
	return ""
}

// add adds what the exchanges have added.
func (l *LeftBehind) add(exchanges []*probe.Exchange) {
	for _, x := range exchanges {
		switch {
		case x.Request.Method != http.MethodPost || !x.Succeeded():
		case x.Request.Messages:
			l.Messages++
		default:
			l.Pets++
			if id, ok := addedID(x); ok {
				l.IDs = append(l.IDs, id)
			}
		}
	}
	slices.Sort(l.IDs)
}

func (c *Counts) add(r Result) {
	if r.Known != "" && (r.Verdict == Fail || r.Verdict == Warn) {
		c.Known++
		return
	}
	if r.Stale {
		c.Stale++
	}
	*map[Verdict]*int{
		Pass: &c.Pass, Fail: &c.Fail, Warn: &c.Warn, Skip: &c.Skip,
		Inconclusive: &c.Inconclusive, Errored: &c.Errored,
	}[r.Verdict]++
}

// outcomeOf returns the outcome for these counts.
func outcomeOf(c Counts, level Level) Outcome {
	switch {
	case c.Fail > 0 || c.Warn > 0 && level == Recommended:
		return NotConformant
	case c.Errored > 0 || c.Pass+c.Warn+c.Known == 0:
		return Incomplete
	case c.Skip > 0:
		return Partial
	}
	return Conformant
}
