package conformance

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Outcome is what a run as a whole says of its target.
type Outcome string

const (
	Conformant    Outcome = "conformant"
	NotConformant Outcome = "not conformant"
	// Incomplete: no fault was found, but the target could not be asked
	// everything, or nothing could be judged.
	Incomplete Outcome = "incomplete"
)

// Result is what one check found.
type Result struct {
	Check
	Verdict Verdict `json:"verdict"`

	// Message says what is wrong, or why there is no judgement.
	Message string `json:"message,omitzero"`

	// Known is the reason for which the check is expected to fail; Stale says
	// that it passed all the same.
	Known string `json:"known,omitzero"`
	Stale bool   `json:"stale,omitzero"`

	// Observations are what the target does where the contract is silent.
	Observations []Observation `json:"observations,omitzero"`

	// Exchanges are those of the check, not all of them if it passed; Proof is
	// the index of the one that shows what Message says, -1 if there is none.
	// Sent counts all of them.
	Exchanges []Exchange `json:"exchanges,omitzero"`
	Proof     int        `json:"proof"`
	Sent      int        `json:"sent"`

	Seconds float64 `json:"seconds"`
}

// Observation is something that the target does.
type Observation struct {
	What string `json:"what"` // is asked
	Got  string `json:"got"`
}

// LeftBehind is what a run created. The contract has no way to delete it.
type LeftBehind struct {
	Mark     string  `json:"mark"` // in every name and text of the run
	Pets     []int64 `json:"pets"` // their ids
	Messages int     `json:"messages"`
}

// Counts says how many checks ended how. A known failure counts as such and
// as nothing else.
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

// ReportFormat names the form of the JSON report. It changes when a member
// changes its meaning or goes away, not when one is added.
const ReportFormat = "petstore-conformance/1"

// Report is what a run found.
type Report struct {
	Format      string  `json:"format"`
	Outcome     Outcome `json:"outcome"`
	URL         string  `json:"url"`
	MessagesURL string  `json:"messagesUrl,omitzero"`

	// Seed repeats the generated cases.
	Seed uint64 `json:"seed"`

	Level    Level     `json:"level"`
	Strict   bool      `json:"strict"`
	ReadOnly bool      `json:"readOnly"`
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`

	Counts  Counts     `json:"counts"`
	Left    LeftBehind `json:"left"`
	Results []Result   `json:"results"`

	// Verbose has the texts show everything: what the target does where the
	// contract is silent, each skipped check, and failures alike in full. The
	// other formats always do.
	Verbose bool `json:"-"`
}

// Format is a form that a report can be written in.
type Format string

const (
	Text  Format = "text"
	ANSI  Format = "ansi" // text with the colours of a terminal
	JSON  Format = "json"
	JUnit Format = "junit"
	HTML  Format = "html" // one file that needs no other
)

// Formats returns every format.
func Formats() []Format { return []Format{Text, ANSI, JSON, JUnit, HTML} }

// Write writes r to w.
func (r *Report) Write(w io.Writer, f Format) error {
	switch f {
	case Text, ANSI:
		return r.writeText(w, f == ANSI)
	case JSON:
		return r.writeJSON(w)
	case JUnit:
		return r.writeJUnit(w)
	case HTML:
		return r.writeHTML(w)
	}
	return optionsError("report format %q: must be one of %v", f, Formats())
}

// Passed reports whether nothing is to be done: the target is conformant, and
// no known failure is out of date.
func (r *Report) Passed() bool { return r.Outcome == Conformant && r.Counts.Stale == 0 }

// Report returns what was found so far. A check that has not run counts as an
// error: it was to be run.
func (s *Session) Report() *Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Report{
		Format:      ReportFormat,
		URL:         s.target.URL,
		MessagesURL: s.target.MessagesURL,
		Seed:        s.opts.Seed,
		Level:       s.opts.Level,
		Strict:      s.opts.Strict,
		ReadOnly:    s.opts.ReadOnly,
		Began:       s.began.UTC().Truncate(time.Millisecond),
		Seconds:     time.Since(s.began).Seconds(),
		Left:        s.left,
	}
	r.Left.Mark = s.tag
	r.Left.Pets = slices.Sorted(slices.Values(s.left.Pets))
	for _, c := range s.checks {
		result, ok := s.results[c.ID]
		if !ok {
			result = Result{Check: c, Verdict: Errored, Message: "it did not run", Proof: -1}
			if why := s.skipped[c.ID]; why != "" {
				result.Verdict, result.Message = Skip, why
			}
		}
		r.Results = append(r.Results, result)
	}
	r.count()
	r.judge()
	return r
}

func (r *Report) count() {
	for _, result := range r.Results {
		c := &r.Counts
		switch {
		case result.Stale:
			c.Stale++
			c.Pass++
		case result.Known != "" && (result.Verdict == Fail || result.Verdict == Warn):
			c.Known++
		default:
			*map[Verdict]*int{
				Pass: &c.Pass, Fail: &c.Fail, Warn: &c.Warn, Skip: &c.Skip,
				Inconclusive: &c.Inconclusive, Errored: &c.Errored,
			}[result.Verdict]++
		}
	}
}

// judge draws the outcome from the counts. An inconclusive check is no proof
// of anything, so that a strict run with one is incomplete and not failed.
func (r *Report) judge() {
	c := r.Counts
	switch {
	case c.Fail > 0 || c.Warn > 0 && r.Level == Recommended:
		r.Outcome = NotConformant
	case c.Errored > 0 || c.Inconclusive > 0 && r.Strict || c.Pass+c.Warn+c.Known == 0:
		r.Outcome = Incomplete
	default:
		r.Outcome = Conformant
	}
}

// Against reports whether r speaks against the target where violations count
// from level on. A known failure does not.
func (r Result) Against(level Level) bool {
	return r.Known == "" && (r.Verdict == Fail || r.Verdict == Warn && level == Recommended)
}

// Details returns what there is to know of a result that is no pass: what is
// wrong, the clause, and the exchange that proves it with its curl line.
func (r Result) Details() string {
	var b strings.Builder
	cl := clauseOf(r.Check)
	fmt.Fprintf(&b, "%s\nclause %s: %s\n", r.Message, cl.Section, cl.Text)
	if r.Proof >= 0 {
		x := r.Exchanges[r.Proof]
		fmt.Fprintf(&b, "\n%s\n\n%s", x.Curl, cutLines(x.String(), 40))
	}
	return b.String()
}

// pickSeed returns a seed that is short enough to be typed.
func pickSeed() uint64 { return uint64(rand.Uint32()) }
