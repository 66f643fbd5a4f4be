package conformance

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Cause is one thing that the target does wrong, with all results that show it.
type Cause struct {
	// Clause is the ID of the [Clause] that is broken.
	Clause string

	// What says what the target does wrong, in one line.
	What string

	// Verdict is Warn if all results are warnings, otherwise Fail.
	Verdict Verdict

	// Results has the failures first. There is at least one result.
	Results []Result
}

// Violation says what a result has in common with the others of its [Cause].
type Violation struct {
	// Clause is the ID of the clause that is broken. It is that of the check, unless
	// what the target did breaks a more basic one: a valid name that gets 500 says
	// nothing about names.
	Clause string `json:"clause"`

	// Kind is the same for all results of a cause.
	Kind string `json:"kind"`

	// What describes all results of the cause. Empty: the message of one says more.
	What string `json:"what,omitzero"`

	// Request describes the request, if the status of its response is wrong.
	Request string `json:"request,omitzero"`
}

// Causes returns what the target does wrong: the failures, then the warnings, and
// among each the cause with the most results first. Known failures are not among
// them.
func (r *Report) Causes() []Cause {
	var causes []Cause
	index := make(map[string]int) // by kind
	for _, verdict := range []Verdict{Fail, Warn} {
		for _, result := range r.Results {
			if result.Verdict != verdict || result.Known != "" {
				continue
			}
			v := result.violation()
			i, ok := index[v.Kind]
			if !ok {
				i = len(causes)
				index[v.Kind] = i
				causes = append(causes, Cause{Clause: v.Clause, What: firstLine(result.Message), Verdict: verdict})
			}
			c := &causes[i]
			c.Results = append(c.Results, result)
			// If all requests were alike, the first message says more.
			if v.What != "" && (v.Request == "" || v.Request != c.Results[0].Violation.Request) {
				c.What = v.What
			}
		}
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(strings.Compare(string(a.Verdict), string(b.Verdict)), len(b.Results)-len(a.Results))
	})
	return causes
}

// violation returns the violation of r. A result that [Run] did not return may have
// none.
func (r Result) violation() Violation {
	if r.Violation.Kind == "" {
		return Violation{Clause: r.Clause, Kind: firstLine(r.Message)}
	}
	return r.Violation
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// flaw describes a violation at the place that finds it. As an argument of a message
// it stands for its text.
type flaw struct {
	Violation        // without a Clause: it is that of the check
	body      string // what is wrong with the form of the body, as in [probe.Error]
	want      string // the status that the response should have, as in 201 or 4xx
	text      string
}

func (f flaw) String() string { return f.text }

// misread returns the flaw of a value that cannot be read because of err. what is what
// the value must be, such as "a Pet"; "": err says it.
func misread(what string, err error) flaw {
	f := flaw{Violation: Violation{Kind: err.Error()}, text: err.Error()}
	var e *probe.Error
	if errors.As(err, &e) {
		f.body = e.Kind
		f.Kind = what + ": " + e.Member + " " + e.Kind
	}
	switch {
	case what == "an Error":
		f.What = "the bodies of errors do not have what an Error has"
		f.Kind = f.What
	case what == "a Pet" && f.body == notStatus:
		f.Clause = "status-values"
	case what == "a Pet":
		f.Clause = "pet"
	}
	return f
}

// notStatus is the kind of a [probe.Error] about a status of a pet.
const notStatus = "not a status"

// wrapped matches the start of an object whose first member is an object or an array:
// that member may be what should be the whole body.
var wrapped = regexp.MustCompile(`^\s*\{\s*"(\w+)"\s*:\s*([\[{])`)

// violation returns the violation that ended c with e.
func (e *ending) violation(c Check) Violation {
	x, f := e.proof, e.flaw
	f.Clause = cmp.Or(f.Clause, c.Clause)
	if f.want != "" && (c.Level == Required || f.want[0] == '4') {
		return f.wrongStatus(x)
	}
	common := func(what string) Violation { return Violation{Clause: c.Clause, Kind: what, What: what} }
	m := wrapped.FindSubmatch(x.Body)
	_, notJSON := x.JSON()
	switch {
	case x.Status == 0:
		op := x.Request.Operation()
		return Violation{Clause: c.Clause, Kind: op + ": " + f.Kind, What: op + ": " + firstLine(e.message)}
	case m != nil && f.body == map[string]string{"[": probe.NotArray, "{": probe.Missing}[string(m[2])]:
		return common(`bodies are wrapped in an object with the member "` + string(m[1]) + `"`)
	case strings.HasPrefix(c.Clause, "error-") && notJSON != nil:
		return common("the bodies of errors are not JSON")
	}
	return f.Violation
}

// success has the clause that says how each operation responds to a valid request.
var success = map[string]string{
	"GET /pets": "list", "POST /pets": "create", "GET /pets/{petId}": "get", "POST /messages": "submit",
}

// refused says in the plural what must get 400, by the clause that says so.
var refused = map[string]string{
	"create-body":      "bodies that are not a NewPet in JSON",
	"create-required":  "bodies without name or categoryId",
	"create-values":    "invalid values",
	"status-values":    "invalid statuses",
	"message-json":     "messages that are not a JSON object",
	"message-required": "bodies without the string message",
	"message-type":     "messages without a Content-Type",
	"rfc-duplicates":   "objects with a name twice",
	"rfc-utf8":         "bodies that are not UTF-8",
}

// wrongStatus returns the violation of f's clause, or of a more basic one, by the
// status of x.
func (f flaw) wrongStatus(x *probe.Exchange) Violation {
	got, op := x.StatusLine(), x.Request.Operation()
	v, clause := Violation{Clause: f.Clause, Request: f.Request}, f.Clause
	switch {
	case f.want[0] == '2' && (x.Status == 400 || x.Status == 422):
		v.What = op + " refuses valid requests with " + got
		v.Kind = v.What + ": " + clause
		if strings.HasPrefix(op, "POST") && clause != "status-optional" {
			v.Clause = success[op] // the others are about what is returned
		}
	case f.want[0] == '2':
		v.Clause, v.What = cmp.Or(success[op], clause), op+" responds "+got+", want "+f.want
	case x.Status >= 500:
		v.Clause, v.What = "server-errors", "bad requests get "+got
	case x.Status < 300 && f.want == "400":
		v.What = cmp.Or(refused[clause], "bad requests") + " are accepted"
	case f.want == "401" && x.Status != 403:
		v.What = "requests without a valid credential are processed"
	default:
		asked := map[string]string{"401": "requests without a valid credential", "404": "unknown ids"}[f.want]
		v.What = cmp.Or(asked, "bad requests") + " get " + got + ", want " + f.want
	}
	v.Kind = cmp.Or(v.Kind, v.What)
	return v
}

// nameOrigins adds to each message about a pet in a list the request of the run that
// added the pet: the target may have accepted it by mistake. ends are the endings of
// the checks.
func (s *session) nameOrigins(results []Result, ends []*ending) {
	for i := range results {
		r := &results[i]
		if r.Verdict == Pass || ends[i] == nil || ends[i].shown == nil {
			continue
		}
		if added, ok := find(s.addedPets(), func(p addedPet) bool { return p.ID == *ends[i].shown }); ok {
			body := s.redact.Show(string(added.x.Request.Body))
			r.Message += "\nthis run added it with " + probe.Cut(body, 200)
			if j := slices.IndexFunc(results, func(o Result) bool { return o.Proof >= 0 && o.Exchanges[o.Proof].RequestBody == body }); j >= 0 {
				r.Message += ", see " + results[j].ID
			}
		}
	}
}
