package conformance

import (
	"fmt"
	"maps"
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
	// Partial: no violation was found, but some checks were skipped.
	Partial Outcome = "partial"
	// Incomplete: no violation was found, but some checks ended with an error,
	// or none could judge the target.
	Incomplete Outcome = "incomplete"
)

// Result is the result of one check.
type Result struct {
	Check
	Verdict Verdict `json:"verdict"`

	// Message says what is wrong, or why the check could not tell.
	Message string `json:"message,omitzero"`

	// Violation says what a failure or warning has in common with others.
	Violation Violation `json:"violation,omitzero"`

	// Known is why the check is expected to fail. Stale says that it passed.
	Known string `json:"known,omitzero"`
	Stale bool   `json:"stale,omitzero"`

	// Repeated says how a failure ended when it was repeated up to three times,
	// after the run, alone, each request on a connection of its own: "always",
	// "sometimes, 2 of 4" (the first one included), "only on a reused
	// connection", "only while others write", or "not possible". Empty: it
	// was not repeated, because there are many failures or they take long.
	Repeated string `json:"repeated,omitzero"`

	// Observations are what the target does where the contract leaves it open.
	Observations []Observation `json:"observations,omitzero"`

	// Exchanges are some of the exchanges of the check. Sent counts all of them.
	// Proof is the index of the one that shows what Message says, or -1.
	// Reports leave out the exchanges of checks that passed.
	Exchanges []Exchange `json:"exchanges,omitzero"`
	Proof     int        `json:"proof"`
	Sent      int        `json:"sent"`

	Seconds float64 `json:"seconds"`
}

// Observation is one thing that the target does.
type Observation struct {
	What string `json:"what"` // the question
	Got  string `json:"got"`
}

// LeftBehind is what a run created. The contract has no way to delete it.
type LeftBehind struct {
	Mark     string  `json:"mark"` // in nearly every name and text of the run
	Pets     []int64 `json:"pets"` // their ids
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
const ReportFormat = "petstore-conformance/1"

// Report is the result of a run. Package report writes it as text, JSON, JUnit
// XML, HTML or Markdown.
type Report struct {
	Format      string  `json:"format"`
	Outcome     Outcome `json:"outcome"`
	URL         string  `json:"url"`
	MessagesURL string  `json:"messagesUrl,omitzero"`

	// Implementation and Version are those of the [Target].
	Implementation string `json:"implementation,omitzero"`
	Version        string `json:"version,omitzero"`

	// Seed repeats the generated bodies.
	Seed uint64 `json:"seed"`

	Level    Level     `json:"level"`
	Strict   bool      `json:"strict"`
	ReadOnly bool      `json:"readOnly"`
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`

	Counts Counts     `json:"counts"`
	Left   LeftBehind `json:"left"`

	// Retries counts what made the suite send requests again, as in 503 Service
	// Unavailable or lost connection. It is empty if none was sent again.
	Retries map[string]int `json:"retries,omitzero"`

	// Limit is how many requests at a time the suite sent at most at the end of the
	// run. The suite halves their number when the target refuses one of several with
	// 429 or 503, or drops its connection. Zero: no limit.
	Limit int `json:"limit,omitzero"`

	Results []Result `json:"results"`
}

// Passed reports whether no check that was run counts against the target, none
// ended with an error, and no known failure passed.
func (r *Report) Passed() bool {
	return (r.Outcome == Conformant || r.Outcome == Partial) && r.Counts.Stale == 0
}

// report returns the report of a run with these results.
func (s *session) report(began time.Time, results []Result) *Report {
	r := &Report{
		Format:         ReportFormat,
		URL:            s.target.URL,
		MessagesURL:    s.target.MessagesURL,
		Implementation: s.target.Implementation,
		Version:        s.target.Version,
		Seed:           s.opts.Seed,
		Level:          s.opts.Level,
		Strict:         s.opts.Strict,
		ReadOnly:       s.opts.ReadOnly,
		Began:          began.UTC().Truncate(time.Millisecond),
		Seconds:        time.Since(began).Seconds(),
		Left:           LeftBehind{Mark: s.mark, Messages: s.created.messages},
		Retries:        retries(s.client.Exchanges()),
		Limit:          s.client.Limit(),
		Results:        results,
	}
	for _, p := range s.created.pets {
		r.Left.Pets = append(r.Left.Pets, p.ID)
	}
	slices.Sort(r.Left.Pets)
	for _, result := range results {
		r.Counts.add(result)
	}
	r.Outcome = outcomeOf(r.Counts, r.Level, r.Strict)
	return r
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

// outcomeOf returns the outcome for these counts. An inconclusive check proves
// nothing, so a strict run with one is incomplete rather than not conformant.
func outcomeOf(c Counts, level Level, strict bool) Outcome {
	switch {
	case c.Fail > 0 || c.Warn > 0 && level == Recommended:
		return NotConformant
	case c.Errored > 0 || c.Inconclusive > 0 && strict || c.Pass+c.Warn+c.Known == 0:
		return Incomplete
	case c.Skip > 0:
		return Partial
	}
	return Conformant
}

// retries counts what made the client send requests again.
func retries(xs []*probe.Exchange) map[string]int {
	counts := make(map[string]int)
	repeated := false
	for _, x := range xs {
		repeated = repeated || x.Attempts > 1
		switch x.Status {
		case 0:
			if probe.IsTimeout(x.Err) {
				counts["no response in time"]++
			} else {
				counts["lost connection"]++
			}
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			counts[x.StatusLine()]++
		}
	}
	if !repeated {
		return nil
	}
	return counts
}

// Headline returns the outcome and the summary, in one line.
func (r *Report) Headline() string { return string(r.Outcome) + ": " + r.Summary() }

// Summary returns every count, in one line.
func (r *Report) Summary() string {
	c := r.Counts
	parts := []string{fmt.Sprintf("%s: %d passed", probe.Plural(len(r.Results), "check"), c.Pass), fmt.Sprintf("%d failed", c.Fail)}
	if r.Outcome == Partial {
		parts = []string{fmt.Sprintf("%d of %s", len(r.Results)-c.Skip, probe.Plural(len(r.Results), "check")), "none failed"}
	}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	against := map[bool]string{true: " (which counts against the target)"}
	add(c.Warn, "with warnings"+against[r.Level == Recommended])
	add(c.Inconclusive, "inconclusive"+against[r.Strict])
	add(c.Errored, "could not be run")
	add(c.Known, "known to fail")
	skipped := make(map[string]int) // by reason
	for _, result := range r.Results {
		if result.Verdict == Skip {
			skipped[result.Message]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		add(skipped[reason], "skipped ("+reason+")")
	}
	line := strings.Join(parts, ", ")
	if c.Stale > 0 {
		line += fmt.Sprintf("; %s passed and must be removed from the list", probe.Plural(c.Stale, "known failure"))
	}
	return line
}

// CountsAgainst reports whether r makes a target not conformant where violations
// count from level on. A known failure does not.
func (r Result) CountsAgainst(level Level) bool {
	return r.Known == "" && (r.Verdict == Fail || r.Verdict == Warn && level == Recommended)
}

// Details returns the message of r, the clause that is broken, when the check fails
// unless it always does, and the exchange that proves the message, with its curl
// command.
func (r Result) Details() string {
	var b strings.Builder
	cl, _ := FindClause(r.violation().Clause)
	fmt.Fprintf(&b, "%s\nclause %s: %s\n", r.Message, cl.Section, cl.Text)
	if r.Repeated != "" && r.Repeated != always {
		fmt.Fprintf(&b, "repeated: %s\n", r.Repeated)
	}
	if r.Proof >= 0 {
		x := r.Exchanges[r.Proof]
		fmt.Fprintf(&b, "\n%s\n\n%s", x.Curl, firstLines(x.String(), 40))
	}
	return b.String()
}

// firstLines returns the first n lines of s, each cut to a readable length.
func firstLines(s string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if n--; n < 0 {
			return b.String() + "…\n"
		}
		b.WriteString(probe.Cut(strings.TrimSuffix(line, "\n"), 400) + "\n")
	}
	return b.String()
}
