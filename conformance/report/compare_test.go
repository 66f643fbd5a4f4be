package report

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/testserver"
)

func compared(t *testing.T, a, b *conformance.Report, f Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := Compare(a, b).Write(&out, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// result returns a result for a comparison. The verdict "known" is that of a known
// failure.
func result(id string, v conformance.Verdict) conformance.Result {
	r := conformance.Result{Check: conformance.Check{ID: id}, Verdict: v, Message: "it is " + string(v), Proof: -1}
	if v == "known" {
		r.Verdict, r.Known = conformance.Fail, "for now"
	}
	return r
}

func TestCompare(t *testing.T) {
	const none = conformance.Verdict("")
	for _, tt := range []struct {
		a, b  conformance.Verdict
		level conformance.Level
		want  string // "": nothing
	}{
		{a: "pass", b: "pass"},
		{a: "fail", b: "fail"},
		{a: "known", b: "known"},
		{a: "warn", b: "warn", level: conformance.Recommended},
		{a: "pass", b: "fail", want: "worse"},
		{a: "skip", b: "fail", want: "worse"},
		{a: "inconclusive", b: "fail", want: "worse"},
		{a: "known", b: "fail", want: "worse"},
		{a: "error", b: "fail", want: "worse"},
		{a: none, b: "fail", want: "worse"},
		{a: "pass", b: "error", want: "worse"},
		{a: "pass", b: "warn", level: conformance.Recommended, want: "worse"},
		{a: "fail", b: "pass", want: "better"},
		{a: "fail", b: "warn", want: "better"},
		{a: "error", b: "pass", want: "better"},
		{a: "fail", b: "warn", level: conformance.Recommended, want: "other"},
		{a: "fail", b: "known", want: "other"},
		{a: "fail", b: "error", want: "other"},
		{a: "fail", b: "skip", want: "only A"},
		{a: "fail", b: none, want: "only A"},
		{a: "pass", b: "warn", want: "other"},
		{a: "pass", b: "inconclusive", want: "other"},
		{a: "skip", b: "pass", want: "only B"},
		{a: none, b: "pass", want: "only B"},
		{a: none, b: "skip"},
		{a: "pass", b: none, want: "only A"},
	} {
		a := &conformance.Report{Level: conformance.Required}
		b := &conformance.Report{Level: conformance.Required}
		if tt.level != "" {
			b.Level = tt.level
		}
		if tt.a != none {
			a.Results = append(a.Results, result("x", tt.a))
		}
		if tt.b != none {
			b.Results = append(b.Results, result("x", tt.b))
		}
		c := Compare(a, b)
		got := strings.Repeat("worse", len(c.Worse)) + strings.Repeat("better", len(c.Better)) + strings.Repeat("other", len(c.Other)) + strings.Repeat("only A", c.OnlyA) + strings.Repeat("only B", c.OnlyB)
		if got != tt.want {
			t.Errorf("%q in A, %q in B, level %q: %q, want %q", tt.a, tt.b, tt.level, got, tt.want)
		}
	}
}

// Two runs on the same server do not differ, although it has other pets, other IDs
// and another address.
func TestCompareSame(t *testing.T) {
	var n atomic.Int64
	h := testserver.Changed(testserver.New(5), func(r *http.Request, rec *httptest.ResponseRecorder) {
		if r.URL.Path == "/v1/messages" {
			rec.Header().Set("Location", fmt.Sprintf("/v1/messages/%d", n.Add(1)))
		}
	})
	opts := &conformance.Options{Skip: []string{"pets.list.empty"}} // which needs a store that has fewer pets
	a, b := runSuite(t, h, "/v1", opts), runSuite(t, h, "/v1", opts)
	a.Implementation, b.Version = "one", "2"
	want := "A: one " + a.URL + ": " + a.Headline() + "\nB: 2 " + b.URL + ": " + b.Headline() + "\n" +
		"not worse: 0 checks worse in B, 0 better, 0 with another verdict; 0 other observations\n"
	if diff := cmp.Diff(want, compared(t, a, b, Text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareText(t *testing.T) {
	a := runSuite(t, testserver.New(5), "", &conformance.Options{Skip: []string{"http.*"}})
	b := runSuite(t, testserver.Changed(testserver.New(5), func(r *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == http.StatusCreated {
			rec.Code = http.StatusOK
		}
		if r.URL.RawQuery == "limit=0" {
			rec.Code = http.StatusTeapot
			rec.Body = bytes.NewBufferString(strings.Replace(rec.Body.String(), "400", "418", 1))
		}
	}), "", &conformance.Options{Skip: []string{"auth.*"}})
	wantParts(t, compared(t, a, b, Text), []string{
		"worse in B:\n  pets.create.status: pass -> fail\n    a valid pet is added: the response is 200 OK, want 201\n",
		" that ran only in A, ", " only in B\nA: ",
		"left open by the contract:\n  pets.list.open.limit ?limit=0: 400 Bad Request, code invalid -> 418 I'm a teapot, code invalid\n",
		"\n  9 observations: pets.create.open.name an empty name, pets.create.open.name a name of spaces, ",
		" an unknown member, and 3 more: 201 Created -> 200 OK\n",
		"\nworse: 1 check worse in B, 0 better, ",
	}, nil)
	wantParts(t, compared(t, b, a, Text), []string{
		"better in B:\n  pets.create.status: fail -> pass\n    a valid pet is added: the response is 200 OK, want 201\n",
		"\nnot worse: 0 checks worse in B, 1 better, ",
	}, nil)
	out := compared(t, a, b, Markdown)
	wantParts(t, out, []string{
		"## Petstore conformance: worse: 1 check worse in B",
		"\n| ` pets.create.status ` | ` pass ` | ` fail ` | ` a valid pet is added: the response is 200 OK, want 201 ` |\n",
	}, nil)
	if err := Compare(a, b).Write(&bytes.Buffer{}, JUnit); err == nil {
		t.Error("a comparison was written as JUnit")
	}
	wantComment(t, out, strings.Count(out, "\n| "))
}

// A comparison of hostile reports fits into a comment too.
func TestCompareHostile(t *testing.T) {
	for _, text := range hostile {
		a, b := hostileReport(), hostileReport()
		for i := range a.Results {
			id := text + fmt.Sprint(i)
			a.Results[i].ID, b.Results[i].ID = id, id
			a.Results[i].Message, b.Results[i].Message = text, text
			a.Results[i].Verdict = b.Results[(i+1+i/6)%len(b.Results)].Verdict
			a.Results[i].Observations = []conformance.Observation{{What: text, Got: "0 " + text}}
			b.Results[i].Observations = []conformance.Observation{{What: text, Got: id}}
		}
		if strings.Contains(compared(t, a, b, Text), "\x1b") {
			t.Error("the text has control characters of the target")
		}
		out := compared(t, a, b, Markdown)
		wantComment(t, out, strings.Count(out, "\n| "))
	}
}

func TestRead(t *testing.T) {
	whole := write(t, newLeakyReport(t), JSON, nil)
	r, err := Read(strings.NewReader(strings.Replace(whole, "{", `{"added": {"later": 1},`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, write(t, r, JSON, nil)); diff != "" {
		t.Errorf("read and written again (-want +got):\n%s", diff)
	}
	const start = `{"format":"petstore-conformance/1","level":"required","outcome":"partial",`
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "not a report in JSON"},
		{"cut", whole[:len(whole)/2], "not a report in JSON"},
		{"text", "conformant", "not a report in JSON"},
		{"an array", "[]", "not a report in JSON"},
		{"two reports", whole + whole, "not a report in JSON"},
		{"no format", `{"level":"required"}`, `the format is "", want "petstore-conformance/1"`},
		{"the report of serve", `{"format":"petstore-client/1"}`, `the format is "petstore-client/1"`},
		{"another type", start + `"seed":"x"}`, "seed"},
		{"another level", `{"format":"petstore-conformance/1","level":"any"}`, `the level "any" is unknown`},
		{"another outcome", `{"format":"petstore-conformance/1","level":"required","outcome":"fine"}`, `the outcome "fine" is unknown`},
		{"no results", start + `"results":[]}`, "there are no results"},
		{"no ID", start + `"results":[{"verdict":"pass","proof":-1}]}`, "result 0 has no id"},
		{"an ID twice", start + `"results":[{"id":"a","verdict":"pass","proof":-1},{"id":"a","verdict":"pass","proof":-1}]}`, `two results have the id "a"`},
		{"another verdict", start + `"results":[{"id":"a","verdict":"good","proof":-1}]}`, `a: the verdict "good" is unknown`},
		{"a proof that is not there", start + `"results":[{"id":"a","verdict":"pass","proof":0}]}`, "a: the proof is exchange 0 of 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
}
