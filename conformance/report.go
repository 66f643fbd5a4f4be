package conformance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Conclusion is what a run says about the target.
type Conclusion string

const (
	Conformant    Conclusion = "conformant"
	NotConformant Conclusion = "not conformant"
	// Partial: no check failed, and some were left out by the options or because the
	// target has no messages.
	Partial Conclusion = "partial"
	// NotJudged: the run does not show whether the target conforms. [Report.Reason] says why.
	NotJudged Conclusion = "not judged"
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

	Message string `json:"message,omitzero"` // what is wrong, or why the check was skipped

	Judged     int `json:"judged"`     // how many exchanges the check judged
	Violations int `json:"violations"` // how many of them violate it

	// Kinds has each kind of exchange that violates the check, such as "a 401 for GET /pets", that of
	// the proof first. It is empty if an exchange with an ordinary request does, too.
	Kinds []string `json:"kinds,omitzero"`

	// Proof is the exchange that Message is about, and Before an earlier one that it depends on,
	// such as the one that added the pet.
	Before *Proof `json:"before,omitzero"`
	Proof  *Proof `json:"proof,omitzero"`
}

// ReportFormat names the format of a report in JSON. It changes when a member is
// removed or changes its meaning, not when one is added.
const ReportFormat = "petstore-conformance/1"

// Report is the result of a run. It can be written as text, JSON or JUnit XML.
type Report struct {
	Format      string     `json:"format"`
	Conclusion  Conclusion `json:"conclusion"`
	URL         string     `json:"url"`
	MessagesURL string     `json:"messagesUrl,omitzero"`

	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Requests int       `json:"requests"` // how many were sent

	// Reason says why the run is not enough to judge the target. "": it is enough.
	Reason string `json:"reason,omitzero"`

	Counts  map[Verdict]int `json:"counts"`        // of checks
	Left    string          `json:"left,omitzero"` // what the run created, and cannot delete
	Results []Result        `json:"results"`
}

// WriteJSON writes r as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	err := json.MarshalWrite(w, r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

func (r *run) report(began time.Time) *Report {
	rep := &Report{
		Format: ReportFormat, URL: r.target.URL, MessagesURL: r.target.MessagesURL, Began: began.UTC().Truncate(time.Millisecond),
		Seconds: time.Since(began).Seconds(), Requests: len(r.exchanges), Left: r.left(), Counts: make(map[Verdict]int),
	}
	if r.noMessages {
		rep.MessagesURL = ""
	}
	partial := r.opts.ReadOnly || r.noMessages && !r.target.PetsOnly
	for _, c := range Checks() {
		if !r.target.PetsOnly || !isOfMessages(c) {
			result := r.result(c)
			rep.Results = append(rep.Results, result)
			rep.Counts[result.Verdict]++
			partial = partial || !r.selected[c.ID]
		}
	}
	switch ended := context.Cause(r.ctx); {
	case ended != nil:
		rep.Reason = r.client.Show(ended.Error())
	case len(r.unserved) > len(r.tallies["http.response"].violations) || len(r.unserved) > 0 && !r.selected["http.response"]:
		rep.Reason = r.client.Show(r.notServed())
	case !r.opts.ReadOnly && len(r.order) == 0:
		rep.Reason = "the target has added no pet whose id it shows"
	case !r.opts.ReadOnly && r.tallies["pets.create.status"].judged == 0,
		!r.noMessages && r.tallies["messages.status"].judged == 0:
		rep.Reason = "no creation of a pet, or of a message, could be judged: each one had to be sent again"
	case rep.Counts[Skip] == len(rep.Results):
		rep.Reason = "the run shows nothing that the checks judge"
	}
	switch {
	case rep.Counts[Fail] > 0:
		rep.Conclusion = NotConformant
	case rep.Reason != "":
		rep.Conclusion = NotJudged
	case partial:
		rep.Conclusion = Partial
	default:
		rep.Conclusion = Conformant
	}
	return rep
}

func isOfMessages(c Check) bool { return strings.HasPrefix(c.ID, "messages.") }

func (r *run) result(c Check) Result {
	t := r.tallies[c.ID]
	result := Result{Check: c, Verdict: Skip, Judged: t.judged}
	switch {
	case !r.selected[c.ID]:
		result.Judged, result.Message = 0, "not selected"
	case len(t.violations) > 0:
		result.Verdict = Warn
		if c.Level == Required || r.opts.FailLevel == Recommended {
			result.Verdict = Fail
		}
		r.prove(&result, t.violations)
	case t.judged > 0:
		result.Verdict = Pass
	case r.ctx.Err() != nil:
		result.Message = "the run ended before"
	case r.opts.ReadOnly:
		result.Message = "read-only"
	case isOfMessages(c) && r.noMessages:
		result.Message = "no messages there; -pets-only (in Go, Target.PetsOnly) leaves them out"
	default:
		result.Message = "no exchange of the run shows it"
	}
	return result
}

// prove fills in what the violations show. The plainest one is the proof: what is unusual about its
// request matters only if it is so in all of them.
func (r *run) prove(result *Result, violations []violation) {
	v := slices.MinFunc(violations, func(a, b violation) int { return cmp.Compare(a.x.request.oddness(), b.x.request.oddness()) })
	result.Kinds = []string{r.client.Show(v.kind(result.ID))}
	for _, v := range violations {
		if kind := r.client.Show(v.kind(result.ID)); !slices.Contains(result.Kinds, kind) {
			result.Kinds = append(result.Kinds, kind)
		}
	}
	if slices.Contains(result.Kinds, "") {
		result.Kinds = nil
	}
	result.Violations, result.Proof = len(violations), r.proof(v.x)
	result.Message = r.client.Show(strings.TrimSpace(v.text))
	if v.before != nil && v.before.Sent.Before(v.x.Sent) { // otherwise x does not show what it did
		result.Before = r.proof(v.before)
	}
}

// oddness is 0 for a request with nothing unusual, and otherwise more the longer the request is.
func (q request) oddness() int {
	if q.kind() == "" {
		return 0
	}
	return 1 + len(q.path) + len(q.Body)
}

// kind is what is particular about v to the check with that ID; "": nothing.
func (v violation) kind(id string) string {
	switch {
	case id == "http.response":
		return v.x.request.line()
	case strings.HasPrefix(id, "errors.") && id != "errors.no-5xx":
		return fmt.Sprintf("a %d for %s", v.x.Status, v.x.request.op())
	}
	return v.x.request.kind()
}

// left says what the run created.
func (r *run) left() string {
	var parts []string
	if ids := slices.Sorted(maps.Keys(r.added)); len(ids) > 0 {
		parts = append(parts, fmt.Sprintf("%s (ids from %d to %d)", plural(len(ids), "pet"), ids[0], ids[len(ids)-1]))
	}
	if r.submitted > 0 {
		parts = append(parts, plural(r.submitted, "message"))
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s, most named %s…", strings.Join(parts, " and "), r.mark)
}
