// Package conformance judges servers of the petstore contract from outside, over
// HTTP, in any language.
//
// Its promise: a required check fails only if the target violates the contract.
// What the contract leaves open is not judged. Each check names the section of the
// contract, or of an RFC, that states it. A failure comes with the exchange that proves
// it and a curl command to repeat it.
//
// [Run] judges a target with every check and returns a [Report], which can be written as text,
// JSON or JUnit XML. Package conformancetest makes each check a subtest of go test. Command
// cmd/conformance needs no Go toolchain where it runs.
//
// First, a run sends all its requests (package internal/stimuli). What the target has responded
// is the history of the run (history.go and origin.go). Then every check judges every exchange to
// which it applies (check.go, and judge_*.go for each operation).
//
// The target may have any number of pets before a run, with any IDs in any order. During
// the run no other client may add a pet or remove one: if a list shows a pet that the run has not
// sent, the checks of what the store has are skipped. A run adds pets with names that no other run uses, more
// than a list can show, and reports what it leaves behind, because the contract has no way to
// delete pets. If the state of the target does not allow a check to tell, for example because
// the store has too many pets for a list to show a new one, the check is skipped.
//
// The API key is sent to the target and nowhere else. Reports show [key] where the
// target echoes it as it is.
package conformance

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// Run judges target with every check that opts selects. Every error is about the
// arguments. If the target is not a petstore that can be judged, or stops responding, the
// report says so.
func Run(ctx context.Context, target Target, opts *Options) (*Report, error) {
	j, err := newJob(target, opts)
	if err != nil {
		return nil, err
	}
	return j.report(time.Now(), j.send(ctx)), nil
}

// job is what the caller of Run asks for.
type job struct {
	target   Target
	opts     Options
	selected map[string]bool // the IDs of the checks that are judged
	redact   probe.Redactor
}

// newJob returns an error if the arguments are not valid.
func newJob(target Target, opts *Options) (*job, error) {
	target, err := target.clean()
	if err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	selected, err := o.selected()
	if err != nil {
		return nil, err
	}
	return &job{target, o, selected, probe.NewRedactor(target.Key)}, nil
}

// send sends all requests of a run.
func (j *job) send(ctx context.Context) stimuli.Traffic {
	return stimuli.Run(ctx, stimuli.Config{
		URL: j.target.URL, MessagesURL: j.target.MessagesURL, Key: j.target.Key,
		PetsOnly: j.target.PetsOnly, ReadOnly: j.opts.ReadOnly, Surrogate: j.selected[surrogateCheck],
		Category: j.opts.Category, Parallel: j.opts.Parallel, Timeout: j.opts.Timeout, Transport: j.opts.Transport,
		Enough: j.enough(),
	})
}

// enough returns a function that reports whether the check fails that Options.until names, or
// nil if it names none.
func (j *job) enough() func(stimuli.Traffic) bool {
	all := Checks()
	i := slices.IndexFunc(all, func(c Check) bool { return c.ID == j.opts.until })
	if i < 0 {
		return nil
	}
	return func(t stimuli.Traffic) bool {
		h := newHistory(t, j.target.URL, j.opts.now())
		return len(h.judge(all[i]).violations) > 0
	}
}

// violation is an exchange that violates a check.
type violation struct {
	x      *exchange
	before *exchange // see Check.wrongAfter
	text   string
}

// judgement is what a check says about a history.
type judgement struct {
	check      Check
	judged     int         // exchanges
	violations []violation // one for each exchange that violates it
	notServed  *exchange   // a request that could not be judged, as the target did not serve it; nil: there is none
}

// judge returns what a check says about h.
func (h *history) judge(c Check) judgement {
	j := judgement{check: c}
	for _, x := range h.all {
		j.add(x)
	}
	for _, x := range h.unserved {
		if c.ofUnserved {
			j.add(x)
		}
		if !x.SentAgain && c.applies(x) {
			j.notServed = x
		}
	}
	return j
}

// add judges x, if the check applies to it.
func (j *judgement) add(x *exchange) {
	if !j.check.applies(x) {
		return
	}
	j.judged++
	v := violation{x: x}
	if j.check.wrongAfter != nil {
		v.before, v.text = j.check.wrongAfter(x)
	} else {
		v.text = j.check.wrong(x)
	}
	if v.text == "" {
		return
	}
	if v.before != nil && !v.before.Sent.Before(x.Sent) {
		v.before = nil // x does not show what it did
	}
	v.text = j.explain(v)
	j.violations = append(j.violations, v)
}

// explain returns the text of v, with what is unusual about the requests in its first line.
func (j *judgement) explain(v violation) string {
	line, more, hasMore := strings.Cut(v.text, "\n")
	add := func(of, unusual string) {
		if unusual != "" && !strings.Contains(line, unusual) {
			line += "; " + of + " has " + unusual
		}
	}
	if unusual := v.x.intent.Unusual; unusual == j.check.kind(v.x) { // otherwise it does not matter to the check
		add("the request", unusual)
	}
	if v.before != nil && v.before != v.x {
		add("the request before it", v.before.intent.Unusual)
	}
	if hasMore {
		line += "\n" + more
	}
	return line
}
