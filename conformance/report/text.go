package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

// What a text that is not verbose has at most, so that it fits on a screen.
const (
	maxFailures = 4
	maxWarnings = 2
	maxDetails  = 10  // lines of the first failure
	maxLine     = 240 // bytes
)

// textWriter writes a report for a person: what the target does wrong first, the
// outcome last, where a terminal stops.
type textWriter struct {
	strings.Builder
	Options
	report *conformance.Report
}

func writeText(w io.Writer, r *conformance.Report, opts Options) error {
	t := &textWriter{report: r, Options: opts}
	first := t.violations(conformance.Fail, maxFailures)
	warned := t.violations(conformance.Warn, maxWarnings)
	if first == nil && r.Level == conformance.Recommended {
		first = warned
	}
	t.unjudged(conformance.Errored)
	t.unjudged(conformance.Inconclusive)
	t.known()
	if first != nil {
		t.details(*first)
	}
	t.summary()
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// line writes what a check or some checks say.
func (t *textWriter) line(v conformance.Verdict, word, subject, what string) {
	t.printf("%s %s: %s\n", t.paint(v, strings.ToUpper(word)), subject, oneLine(what))
}

// paint returns s in the color of v.
func (t *textWriter) paint(v conformance.Verdict, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + lookOf(v).color + "m" + s + "\x1b[0m"
}

// violations writes the results with a verdict, and returns the first one that does not
// follow from a more basic one. Those that do are only named, unless the text is
// verbose.
func (t *textWriter) violations(v conformance.Verdict, limit int) (first *conformance.Result) {
	var follow, more []string
	shown := 0
	for _, r := range t.report.Results {
		switch {
		case r.Verdict != v || r.Known != "":
			continue
		case t.Verbose:
			t.verbose(r)
		case r.Cause != "":
			follow = append(follow, r.ID)
		case shown == limit:
			more = append(more, r.ID)
		default:
			shown++
			t.line(v, string(v), r.ID, r.Headline())
		}
		if first == nil && r.Cause == "" {
			first = &r
		}
	}
	if len(more) > 0 {
		t.line(v, string(v), probe.Plural(len(more), "more check"), someOf(more))
	}
	if len(follow) > 0 {
		t.printf("  these may follow, since they fail on the same exchanges or pets: %s\n", someOf(follow))
	}
	return first
}

func (t *textWriter) verbose(r conformance.Result) {
	t.line(r.Verdict, string(r.Verdict), r.ID, r.Headline())
	if r.Cause != "" {
		t.printf("  this may follow from %s, which fails on the same exchanges or pets\n", r.Cause)
	}
	for _, line := range strings.Split(r.Message, "\n")[1:] {
		t.printf("  %s\n", line)
	}
	if r.Again != "" {
		t.printf("  again, when sent alone: %s\n", r.Again)
	}
	if r.Proof != nil && r.Proof.Curl != "" {
		t.printf("  %s\n", r.Proof.Curl)
	}
}

// unjudged writes the results of checks that could not tell.
func (t *textWriter) unjudged(v conformance.Verdict) {
	var ids []string
	count := make(map[string]int) // by message
	for _, r := range t.report.Results {
		if r.Verdict != v {
			continue
		}
		if t.Verbose {
			t.line(v, string(v), r.ID, r.Message)
			continue
		}
		ids = append(ids, r.ID)
		count[r.Message]++
	}
	switch {
	case len(ids) == 0:
	case len(count) == 1:
		t.line(v, string(v), someOf(ids), slices.Collect(maps.Keys(count))[0])
	default:
		t.printf("%s %s: %s\n", t.paint(v, strings.ToUpper(string(v))), probe.Plural(len(ids), "check"), someOf(ids))
	}
}

func (t *textWriter) known() {
	for _, r := range t.report.Results {
		switch {
		case r.Stale:
			t.line(conformance.Fail, "stale", r.ID, "known to fail, but passed; must be removed from the list of known failures")
		case r.Known != "" && r.Violations > 0 && t.Verbose:
			t.line(r.Verdict, "known", r.ID, fmt.Sprintf("%s (%s)", oneLine(r.Message), r.Known))
		}
	}
}

// details writes the clause and the proof of a result, without what the curl command
// shows too. Of the header of the response it has Content-Type and what the message
// names.
func (t *textWriter) details(r conformance.Result) {
	if r.Proof != nil {
		x := *r.Proof
		if x.Curl != "" {
			x.RequestHeader, x.RequestBody = nil, ""
		}
		x.ResponseHeader = slices.DeleteFunc(slices.Clone(x.ResponseHeader), func(f conformance.Field) bool {
			return f.Name != "Content-Type" && !strings.Contains(r.Message, f.Name)
		})
		r.Proof = &x
	}
	t.printf("\n%s %s\n", t.paint(r.Verdict, strings.ToUpper(string(r.Verdict))), r.ID)
	lines := strings.Split(strings.TrimSuffix(r.Details(), "\n"), "\n")
	if len(lines) > maxDetails && !t.Verbose {
		lines = append(lines[:maxDetails-1], "…")
	}
	blank := true
	for _, line := range lines {
		if !strings.HasPrefix(line, "curl ") {
			line = oneLine(line)
		}
		shown := r.Proof != nil && r.Proof.Curl != "" && strings.HasPrefix(line, "> ") // by the curl command
		if !shown && (line != "" || !blank) {
			t.printf("%s\n", strings.TrimRight("  "+line, " "))
		}
		blank = line == ""
	}
	t.printf("\n")
	if !t.Verbose && t.report.Counts.Fail > 1 {
		t.printf("-v shows every failed check with its curl command\n")
	}
}

func (t *textWriter) summary() {
	r := t.report
	if r.Stopped != "" {
		t.printf("the run ended early: %s\n", oneLine(r.Stopped))
	}
	if len(r.Last) > 0 {
		t.printf("the first requests that got no response; one of them may be the cause:\n")
		for _, x := range r.Last {
			t.printf("  %s\n", x.Curl)
		}
	}
	if len(r.Retries) > 0 {
		t.printf("requests were sent again after: %s; see the target's log, or load it less with -rate N\n", retries(r))
	}
	t.printf("%s", strings.TrimSpace(r.Implementation+" "+r.URL))
	if r.MessagesURL != "" && r.MessagesURL != r.URL {
		t.printf(" (messages: %s)", r.MessagesURL)
	}
	t.printf(", %s", probe.Plural(r.Requests, "request"))
	t.printf(", %.1f s\n", r.Seconds)
	if r.Left.Pets > 0 || r.Left.Messages > 0 {
		t.printf("left behind: %s%s and %s, most named %s…\n", probe.Plural(r.Left.Pets, "pet"), idRange(r.Left.IDs), probe.Plural(r.Left.Messages, "message"), r.Left.Mark)
	}
	t.printf("%s\n", t.paint(colorOf(r), r.Headline()))
}

// oneLine returns the first line of s, without control characters and cut to about
// maxLine bytes.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return probe.Cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return ' '
		}
		return r
	}, s), maxLine)
}

// someOf returns the first of the IDs, and how many more there are.
func someOf(ids []string) string {
	const some = 5
	if len(ids) > some {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:some], ", "), len(ids)-some)
	}
	return strings.Join(ids, ", ")
}

// retries returns why the suite sent requests again, and how many at a time it then
// sent.
func retries(r *conformance.Report) string {
	reasons := slices.SortedFunc(maps.Keys(r.Retries), func(a, b string) int {
		return cmp.Or(r.Retries[b]-r.Retries[a], strings.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s (%d)", reason, r.Retries[reason])
	}
	s := someOf(reasons)
	if r.Limit > 0 {
		s += fmt.Sprintf("; then at most %s at a time", probe.Plural(r.Limit, "request"))
	}
	return s
}

// idRange describes ids, which are sorted.
func idRange(ids []int64) string {
	ids = slices.Compact(slices.Clone(ids))
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (id %d)", ids[0])
	}
	return fmt.Sprintf(" (ids from %d to %d)", ids[0], ids[len(ids)-1])
}
