package conformance

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
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

// Causes returns what the target does wrong: the failures, then the warnings, and
// among each the cause with the most results first. Known failures are not among
// them.
func (r *Report) Causes() []Cause {
	var causes []Cause
	index := make(map[violation]int)
	for _, verdict := range []Verdict{Fail, Warn} {
		for _, result := range r.Results {
			if result.Verdict != verdict || result.Known != "" {
				continue
			}
			clause, v := result.violation()
			i, ok := index[v]
			if !ok {
				i = len(causes)
				index[v] = i
				causes = append(causes, Cause{Clause: clause, What: result.line(), Verdict: verdict})
			}
			c := &causes[i]
			// If all requests were alike, the first message says more.
			if v.what != "" && (!wantedStatus.MatchString(c.What) || sent(c.What) != sent(result.line())) {
				c.What = v.what
			}
			c.Results = append(c.Results, result)
		}
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(strings.Compare(string(a.Verdict), string(b.Verdict)), len(b.Results)-len(a.Results))
	})
	return causes
}

// violation is what the results of a cause have in common. It is the key by which
// results are grouped.
type violation struct {
	what   string // in plain words; "": as the first message says
	like   string // their messages without particulars, if what is empty
	clause string // the clause that all of them break; "": any
}

// line returns the first line of the message of r.
func (r Result) line() string {
	line, _, _ := strings.Cut(r.Message, "\n")
	return line
}

// sent returns the part of a message of [tester.wrongStatus] about the request.
func sent(line string) string {
	before, _, _ := strings.Cut(line, ": the response is ")
	return before
}

// proof returns the exchange that proves the message of r.
func (r Result) proof() (x Exchange) {
	if r.Proof >= 0 {
		x = r.Exchanges[r.Proof]
	}
	return x
}

var (
	// brackets and particulars match what differs in messages about the same violation:
	// brackets at the end, texts in quotes, numbers, and statuses of pets.
	brackets    = regexp.MustCompile(` \(.*\)$`)
	particulars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b\d[\d.eE+]*\b|\b(?:available|pending|sold)\b`)

	// notPet matches the start of a message about a body, or an element of a list, that
	// is not a Pet.
	notPet = regexp.MustCompile(`^.*\bnot a Pet: `)

	// changed matches a message about a pet that is not as it was sent.
	changed = regexp.MustCompile(`^.*: (the name|the id|categoryId|the status) is .*, want `)

	// wrapped matches the start of a body with an object around what should be the
	// whole body.
	wrapped = regexp.MustCompile(`^\s*\{\s*"(\w+)"\s*:\s*([\[{])`)

	// wantedStatus matches the end of a message of [tester.wrongStatus].
	wantedStatus = regexp.MustCompile(`: the response is .*, want ([245](?:\d\d|xx)(?: or \d\d\d)?)\b`)
)

// violation returns what r has in common with the other results of its cause, and the
// clause that they break. It is the clause of the check, unless what the target did
// breaks a more basic one: a valid name that gets 500 says nothing about names.
func (r Result) violation() (clause string, v violation) {
	x, line := r.proof(), brackets.ReplaceAllString(r.line(), "")
	if m := wantedStatus.FindStringSubmatch(line); m != nil && r.Proof >= 0 && (r.Level == Required || m[1][0] == '4') {
		return r.statusViolation(x, m[1])
	}
	missing := strings.HasSuffix(line, ": missing") || strings.HasSuffix(line, "not an array")
	m := wrapped.FindStringSubmatch(x.ResponseBody)
	_, notJSON := probe.ParseJSON([]byte(x.ResponseBody))
	clause = r.Clause
	switch {
	case r.Proof >= 0 && x.Status == 0:
		v.what = x.Operation + ": " + line
	case missing && m != nil && (m[2] == "[") == strings.HasSuffix(line, "array"):
		v.what = `bodies are wrapped in an object with the member "` + m[1] + `"`
	case strings.HasPrefix(r.Clause, "error-") && (notJSON != nil || strings.HasSuffix(line, "not valid JSON")):
		v.what = "the bodies of errors are not JSON"
	case strings.HasPrefix(line, "the body is not an Error: "):
		v.what = "the bodies of errors do not have what an Error has"
	case notPet.MatchString(line):
		clause, v.like = "pet", notPet.ReplaceAllString(line, "")
		if strings.HasPrefix(v.like, "status: must be ") {
			clause = "status-values"
		}
	case changed.MatchString(line) && r.Clause != "replacement":
		v.like = changed.FindStringSubmatch(line)[1]
		clause = kept[v.like]
	default:
		v.like = line
	}
	v.like = particulars.ReplaceAllString(v.like, "…")
	return clause, v
}

// faultClause returns the clause that a request violates: that of the check, or, if
// the body was generated, that of its fault.
func (r Result) faultClause() string {
	if !strings.HasPrefix(r.ID, "generated.") {
		return r.Clause
	}
	notJSON, missing := "create-body", "create-required"
	if r.Feature == FeatureMessages {
		notJSON, missing = "message-json", "message-required"
	}
	switch line := r.line(); {
	case strings.HasSuffix(line, " is missing)"):
		return missing
	case strings.HasSuffix(line, "cut short)"), strings.HasSuffix(line, "follows the object)"):
		return notJSON
	}
	return r.Clause
}

// success has the clause that says how each operation responds to a valid request.
var success = map[string]string{
	"GET /pets": "list", "POST /pets": "create", "GET /pets/{petId}": "get", "POST /messages": "submit",
}

// kept has the clause that says that a member of a pet is returned as it was sent.
var kept = map[string]string{"the name": "name", "the id": "id", "categoryId": "category", "the status": "status-set"}

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

// statusViolation is [Result.violation] for a wrong status. x is the proof, and want
// the status that the message wants.
func (r Result) statusViolation(x Exchange, want string) (clause string, v violation) {
	got, clause := probe.StatusLine(x.Status), r.faultClause()
	switch {
	case strings.HasPrefix(want, "2") && (x.Status == 400 || x.Status == 422):
		v = violation{what: x.Operation + " refuses valid requests with " + got, clause: clause}
		if strings.HasPrefix(x.Operation, "POST") && clause != "status-optional" {
			clause = success[x.Operation] // the others are about what is returned
		}
	case strings.HasPrefix(want, "2"):
		clause, v.what = cmp.Or(success[x.Operation], clause), x.Operation+" responds "+got+", want "+want
	case x.Status >= 500:
		clause, v.what = "server-errors", "bad requests get "+got
	case x.Status < 300 && want == "400":
		v.what = cmp.Or(refused[clause], "bad requests") + " are accepted"
	case want == "401" && x.Status != 403:
		v.what = "requests without a valid credential are processed"
	default:
		asked := map[string]string{"401": "requests without a valid credential", "404": "unknown ids"}[want]
		v.what = cmp.Or(asked, "bad requests") + " get " + got + ", want " + want
	}
	return clause, v
}

// shownElement matches what showElement adds to a message.
var shownElement = regexp.MustCompile(`\nelement \d+ of the list: \{.*?"id":\s*(-?\d+)\b`)

// nameOrigins adds to each message about a pet in a list which request of the run
// added that pet: the target may have accepted the request by mistake.
func (s *session) nameOrigins(results []Result) {
	for i := range results {
		r := &results[i]
		m := shownElement.FindStringSubmatch(r.Message)
		if m == nil || r.Verdict == Pass {
			continue
		}
		if x, ok := find(s.client.Exchanges(), func(x *probe.Exchange) bool { return addedPetWithID(x, m[1]) }); ok {
			body := s.redact.Show(string(x.Request.Body))
			r.Message += "\nthis run added it with " + probe.Cut(body, 200)
			if j := slices.IndexFunc(results, func(o Result) bool { return o.proof().RequestBody == body }); j >= 0 {
				r.Message += ", see " + results[j].ID
			}
		}
	}
}

// addedPetWithID reports whether x added the pet with that id.
func addedPetWithID(x *probe.Exchange, id string) bool {
	if x.Request.Operation() != "POST /pets" || !x.Succeeded() {
		return false
	}
	p, ok := guess(x, guessPet)
	return ok && strconv.FormatInt(p.ID, 10) == id
}
