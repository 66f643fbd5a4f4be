package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// Text writes r for a person: what the target does wrong first, the outcome last, where
// a terminal stops. It shows the proof of the first failure, and if it is verbose, of
// every failure and warning.
func Text(w io.Writer, r *conformance.Report, verbose bool) error {
	t := &textWriter{report: r, verbose: verbose}
	t.violations(conformance.Fail)
	t.violations(conformance.Warn)
	t.unjudged(conformance.Errored)
	t.unjudged(conformance.Inconclusive)
	t.known()
	t.proofs()
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

type textWriter struct {
	strings.Builder
	report  *conformance.Report
	verbose bool
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// line writes what a check or some checks say.
func (t *textWriter) line(word, subject, what string) {
	t.printf("%s %s: %s\n", strings.ToUpper(word), subject, what)
}

// violations writes the results with a verdict. Those that may follow from a more basic
// one are only named.
func (t *textWriter) violations(v conformance.Verdict) {
	var follow []string
	for _, r := range t.report.Results {
		switch {
		case r.Verdict != v || r.Known != "":
		case r.Cause != "":
			follow = append(follow, r.ID)
		default:
			t.line(string(v), r.ID, r.Headline())
		}
	}
	if len(follow) > 0 {
		t.printf("  these may follow, since they fail on the same exchanges or pets: %s\n", t.some(follow))
	}
}

// unjudged writes the checks that could not tell, by what they say.
func (t *textWriter) unjudged(v conformance.Verdict) {
	var messages []string
	ids := make(map[string][]string) // by message
	for _, r := range t.report.Results {
		if r.Verdict == v {
			if ids[r.Message] == nil {
				messages = append(messages, r.Message)
			}
			ids[r.Message] = append(ids[r.Message], r.ID)
		}
	}
	for _, m := range messages {
		t.line(string(v), t.some(ids[m]), m)
	}
}

func (t *textWriter) known() {
	for _, r := range t.report.Results {
		switch {
		case r.Stale:
			t.line("stale", r.ID, "known to fail, but passed; must be removed from the list of known failures")
		case r.Known != "" && r.Violations > 0 && t.verbose:
			t.line("known", r.ID, fmt.Sprintf("%s (%s)", r.Headline(), r.Known))
		}
	}
}

// proofs writes the details of violations.
func (t *textWriter) proofs() {
	shown := false
	for _, r := range t.report.Results {
		if r.Known != "" || r.Violations == 0 || !t.verbose && (shown || !r.CountsAgainst(t.report.Level)) {
			continue
		}
		shown = true
		t.printf("\n%s %s\n", strings.ToUpper(string(r.Verdict)), r.ID)
		if r.Cause != "" {
			t.printf("  this may follow from %s, which fails on the same exchanges or pets\n", r.Cause)
		}
		for line := range strings.Lines(r.Details()) {
			t.printf("  %s", line)
		}
	}
	if shown {
		t.printf("\n")
	}
	if shown && !t.verbose {
		t.printf("-v shows every failed check with its curl command\n")
	}
}

func (t *textWriter) summary() {
	r := t.report
	if r.Stopped != "" {
		t.printf("the run ended early: %s\n", r.Stopped)
	}
	if len(r.Last) > 0 {
		t.printf("the first requests that got no response; one of them may be the cause:\n")
		for _, x := range r.Last {
			t.printf("  %s\n", x.Curl)
		}
	}
	if len(r.Retries) > 0 {
		t.printf("requests were sent again after: %s; see the target's log\n", t.retries())
	}
	t.printf("%s", r.URL)
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %s, %.1f s\n", probe.Plural(r.Requests, "request"), r.Seconds)
	if r.Left.Pets > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, most named %s…\n", probe.Plural(r.Left.Pets, "pet"), idRange(r.Left.IDs), probe.Plural(r.Left.Messages, "message"), r.Left.Mark)
	}
	t.printf("%s\n", r.Headline())
}

// some returns the first of the words, and how many more there are.
func (t *textWriter) some(words []string) string {
	const some = 5
	if len(words) > some && !t.verbose {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:some], ", "), len(words)-some)
	}
	return strings.Join(words, ", ")
}

// retries returns why the suite sent requests again.
func (t *textWriter) retries() string {
	counts := t.report.Retries
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s (%d)", reason, counts[reason])
	}
	return t.some(reasons)
}

// idRange describes ids, which are sorted.
func idRange(ids []int64) string {
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (id %d)", ids[0])
	}
	return fmt.Sprintf(" (ids from %d to %d)", ids[0], ids[len(ids)-1])
}
