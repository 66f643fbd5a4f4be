package conformance

import (
	"fmt"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// SoakFormat names the format of a soak's report in JSON. It changes as
// [ReportFormat] does.
const SoakFormat = "petstore-soak/1"

// SoakReport is the result of [Soak].
type SoakReport struct {
	Format string `json:"format"`

	// Outcome is [NotConformant] if there is a finding, and [Incomplete] if the
	// target could not be restarted or stopped responding.
	Outcome Outcome `json:"outcome"`

	URL         string    `json:"url"`
	MessagesURL string    `json:"messagesUrl,omitzero"`
	Began       time.Time `json:"began"`
	Seconds     float64   `json:"seconds"`
	Mark        string    `json:"mark"` // in every name and text of the soak

	Sent     int `json:"sent"`     // requests
	Unserved int `json:"unserved"` // requests without a response, or with 429, 502, 503, 504 or 507
	Pets     int `json:"pets"`     // that were acknowledged or shown
	Messages int `json:"messages"` // that were acknowledged
	Unknown  int `json:"unknown"`  // creations without a response; some may have added a pet
	Restarts int `json:"restarts"`

	// Error says why the soak ended early.
	Error string `json:"error,omitzero"`

	Findings []SoakFinding `json:"findings,omitzero"`
}

// SoakFinding is a violation of the contract.
type SoakFinding struct {
	Message  string   `json:"message"`  // of the first time
	Exchange Exchange `json:"exchange"` // that shows it
	Times    int      `json:"times"`

	kind string
}

// add adds a finding, or counts one of the same kind: the operation and the start
// of the message are the same.
func (r *SoakReport) add(operation, message string, x Exchange) {
	start, _, _ := strings.Cut(message, ":")
	kind := operation + " " + start
	for i := range r.Findings {
		if r.Findings[i].kind == kind {
			r.Findings[i].Times++
			return
		}
	}
	r.Findings = append(r.Findings, SoakFinding{message, x, 1, kind})
}

// String returns r as text: the findings, then what was sent, then the outcome.
func (r *SoakReport) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "FAIL %s (%s)\n\n%s\n\n%s\n", f.Message, probe.Plural(f.Times, "time"), f.Exchange.Curl, firstLines(f.Exchange.String(), 40))
	}
	if r.Error != "" {
		fmt.Fprintf(&b, "ERROR %s\n\n", r.Error)
	}
	fmt.Fprintf(&b, "%s, %.1f s, %s, %s, %d not served\n", r.URL, r.Seconds, probe.Plural(r.Sent, "request"), probe.Plural(r.Restarts, "restart"), r.Unserved)
	fmt.Fprintf(&b, "left behind: %s and %s, named %s…; %s without a response\n",
		probe.Plural(r.Pets, "pet"), probe.Plural(r.Messages, "message"), r.Mark, probe.Plural(r.Unknown, "creation"))
	fmt.Fprintf(&b, "%s: %s\n", r.Outcome, probe.Plural(len(r.Findings), "finding"))
	return b.String()
}
