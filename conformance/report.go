package conformance

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// Outcome is the outcome of a run.
type Outcome string

const (
	Conformant    Outcome = "conformant"
	NotConformant Outcome = "not conformant"
	// Partial: no check failed, and some were left out by the options or because the
	// target has no messages.
	Partial Outcome = "partial"
	// NotJudged: the run does not show whether the target conforms. [Report.Reason] says why.
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

	// Kinds has each kind of exchange that violates the check, once, such as "a 401 for
	// GET /pets". It is empty if an exchange with an ordinary request violates it, too.
	Kinds []string `json:"kinds,omitzero"`

	// Before is an earlier exchange that Proof depends on, such as the one that added the
	// pet. Nil: there is none.
	Before *Proof `json:"before,omitzero"`

	// Proof is the exchange that Message is about. Nil: there is none.
	Proof *Proof `json:"proof,omitzero"`

	leftOut bool // by an option, or because the target has no messages
}

// ReportFormat names the format of a report in JSON. It changes when a member is
// removed or changes its meaning, not when one is added.
const ReportFormat = "petstore-conformance/1"

// Report is the result of a run. It can be written as text, JSON or JUnit XML.
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

	// Unserved counts the responses and failures of requests that the target did not serve, by
	// the reason, such as 503 Service Unavailable or lost connection. Most of these requests were
	// sent again, and each time counts. It is empty if all were served.
	Unserved map[string]int `json:"unserved,omitzero"`

	Results []Result `json:"results"`
}

// WriteJSON writes r as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	b, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// report judges what the run has sent and received.
func (j *job) report(began time.Time, traffic stimuli.Traffic) *Report {
	h := newHistory(traffic, j.target.URL, j.opts.now())
	r := &Report{
		Format:      ReportFormat,
		URL:         j.target.URL,
		MessagesURL: traffic.MessagesURL,
		Began:       began.UTC().Truncate(time.Millisecond),
		Seconds:     time.Since(began).Seconds(),
		Requests:    len(traffic.Exchanges),
		Left:        h.left(),
		Unserved:    h.countUnserved(),
		Counts:      make(map[Verdict]int),
	}
	list, p := h.otherWriter()
	notServed := h.notServed()
	partial := notServed != "" || traffic.MessagesUnserved != nil
	for _, c := range Checks() {
		if j.target.PetsOnly && isOfMessages(c) {
			continue
		}
		result := j.result(h.judge(c), traffic)
		if list != nil && c.dependsOnStore() {
			result = Result{Check: c, Verdict: Skip, Message: "the store has a pet that the run did not send"}
		}
		r.Results = append(r.Results, result)
		r.Counts[result.Verdict]++
		partial = partial || result.leftOut
	}
	reason := j.notJudged(h, traffic.Ended, list, p)
	if reason == "" && r.Counts[Skip] == len(r.Results) {
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
	r.Reason = j.redact.Show(cmp.Or(reason, notServed))
	return r
}

func isOfMessages(c Check) bool { return strings.HasPrefix(c.ID, "messages.") }

// result returns the result of a check.
func (j *job) result(of judgement, traffic stimuli.Traffic) Result {
	r := Result{Check: of.check, Verdict: Pass, Judged: of.judged, Violations: len(of.violations)}
	skip := func(why string) { r.Verdict, r.Message = Skip, j.redact.Show(why) }
	leaveOut := func(why string) { r.leftOut = true; skip(why) }
	switch {
	case !j.selected[r.ID]:
		r.Violations, r.Judged = 0, 0
		leaveOut("not selected")
	case len(of.violations) > 0:
		r.Verdict = Warn
		if r.Level == Required || j.opts.FailLevel == Recommended {
			r.Verdict = Fail
		}
		r.prove(of.violations, j.redact)
	case of.judged > 0:
	case isOfMessages(r.Check) && traffic.MessagesUnserved != nil:
		leaveOut("the target does not serve messages: " + traffic.MessagesUnserved.Failure())
	case of.notServed != nil:
		skip("the target does not serve the request: " + of.notServed.Failure())
	case traffic.Ended != nil:
		skip("the run ended before")
	case j.opts.ReadOnly:
		leaveOut("read-only")
	case isOfMessages(r.Check) && traffic.MessagesURL == "":
		leaveOut("no messages there; -pets-only (in Go, Target.PetsOnly) leaves them out")
	default:
		skip("no exchange of the run shows it")
	}
	return r
}

// prove fills in what the violations show. The first one is the proof.
func (r *Result) prove(violations []violation, redact probe.Redactor) {
	first := violations[0]
	r.Message, r.Proof = redact.Show(first.text), newProof(first.x.Exchange, redact)
	if first.before != nil && first.before != first.x {
		r.Before = newProof(first.before.Exchange, redact)
	}
	for _, v := range violations {
		kind := redact.Show(r.kind(v.x))
		if kind == "" {
			r.Kinds = nil
			return
		}
		if !slices.Contains(r.Kinds, kind) {
			r.Kinds = append(r.Kinds, kind)
		}
	}
}
