package report

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/testserver"
)

func wantParts(t *testing.T, text string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("the text does not have %q", s)
		}
	}
	for _, s := range not {
		if strings.Contains(text, s) {
			t.Errorf("the text has %q", s)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func wantLines(t *testing.T, text string, most int) {
	t.Helper()
	if n := strings.Count(text, "\n"); n > most {
		t.Errorf("%d lines, want at most %d:\n%s", n, most, text)
	}
}

// The text fits on a screen, whatever the target does.
func TestTextOfHostileTarget(t *testing.T) {
	r := hostileReport()
	r.Implementation, r.URL, r.Retries = "", "", map[string]int{"lost connection": 7}
	for i := range r.Results {
		r.Results[i].ID = fmt.Sprint("check.", i)
		if r.Results[i].Verdict == conformance.Skip {
			r.Results[i].Message = "not selected"
		}
	}
	wantLines(t, write(t, r, Text, nil), 40)
}

// A check that is inconclusive because another one fails needs no attention of its own.
func TestTextOfInconclusive(t *testing.T) {
	r := &conformance.Report{Level: conformance.Required, Outcome: conformance.NotConformant, Results: []conformance.Result{
		result("list", conformance.Fail), result("create", conformance.Pass),
		result("a", conformance.Inconclusive), result("b", conformance.Inconclusive), result("c", conformance.Inconclusive), result("d", conformance.Inconclusive),
	}}
	for i, message := range []string{"one is missing; see list", "no list; see list", "the store is full", "no pets; see create"} {
		r.Results[2+i].Message = message
	}
	wantParts(t, write(t, r, Text, nil), []string{
		"\nINCONCLUSIVE 4 checks: another check reports the cause (2); no pets; see create (1); the store is full (1)\n",
	}, nil)
}

// details are parts that only a verbose text has.
var details = []string{
	"\n  errors.400.message: the body is not valid JSON\n    curl ",
	"\nKNOWN pets.create.status: a valid pet is added: the response is 200 OK, want 201 (200 <for> \"now\")\n",
	"\nINCONCLUSIVE pets.list.empty: every filter",
}

func TestText(t *testing.T) {
	r := newLeakyReport(t)
	out := write(t, r, Text, nil)
	wantParts(t, out, []string{
		"FAIL 12 checks: the bodies of errors are not JSON (clause 2.5, 7; first errors.400.code)\n",
		"FAIL deprecation.sunset.date: the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030 (clause 4.3, 9)\n",
		"WARN deprecation.deprecation.present: the response has no Deprecation (clause RFC 9745, 2)\n",
		"ERROR messages.status: ",
		"INCONCLUSIVE 6 checks: the run has no messages that were submitted (",
		"STALE pets.list.status: known to fail, but passed; must be removed from the list of known failures\n",
		"\n  clause 2.5, 7: An error body has a code, a string.\n",
		"\n  curl -i ",
		"\n  < Content-Type: application/json\n  <\n  < {\"message\":",
		"\n-v shows every failed check with its curl command\n",
		"\nrequests were sent again after: 503 Service Unavailable (",
		", seed 5\n",
	}, details)
	wantLines(t, out, 24)
	c := r.Counts
	verdict := fmt.Sprintf("not conformant: %d checks: %d passed, %d failed, %d with warnings, %d inconclusive, %d could not be run, 1 known to fail, %d skipped (not selected); 1 known failure passed and must be removed from the list\n",
		len(r.Results), c.Pass, c.Fail, c.Warn, c.Inconclusive, c.Errored, c.Skip)
	if !strings.HasSuffix(out, "\n"+verdict) {
		t.Errorf("the last line is not %s\n%s", verdict, out)
	}
	colors := write(t, r, Text, &Options{Color: true})
	if plain := regexp.MustCompile(`\x1b\[[\d;]*m`).ReplaceAllString(colors, ""); plain != out || colors == out {
		t.Errorf("the text in colors:\n%q", colors)
	}
	verbose := write(t, r, Text, &Options{Verbose: true})
	wantParts(t, verbose, details, nil)
	for _, result := range r.Results {
		if result.Verdict != conformance.Pass && result.Verdict != conformance.Skip && !strings.Contains(verbose, " "+result.ID) {
			t.Errorf("the verbose text does not name %s (%s)", result.ID, result.Verdict)
		}
	}
	if n := strings.Count(verbose, "\n    curl "); n != c.Fail+c.Warn {
		t.Errorf("the verbose text has %d curl commands for %d failures and %d warnings", n, c.Fail, c.Warn)
	}
}

// A run that skips checks is never called conformant.
func TestTextOfPartial(t *testing.T) {
	r := runSuite(t, testserver.New(5), "", &conformance.Options{Skip: []string{"pets.list.empty"}})
	out := write(t, r, Text, nil)
	messages := 0
	for _, c := range conformance.Checks() {
		if c.Feature == conformance.FeatureMessages {
			messages++
		}
	}
	want := fmt.Sprintf("\npartial: %d of %d checks, none failed, %d skipped (no messages URL), 1 skipped (not selected)\n", len(r.Results)-messages-1, len(r.Results), messages)
	if !strings.HasSuffix(out, want) || strings.Count(out, "\n") != 3 {
		t.Errorf("want 3 lines that end with %q:\n%s", want, out)
	}
}

// The text on a conformant target has at most 10 lines. The other reports are short too.
func TestTextOfConformant(t *testing.T) {
	n := 0
	bare := testserver.Changed(testserver.New(5), func(r *http.Request, rec *httptest.ResponseRecorder) {
		for _, name := range []string{"Deprecation", "Sunset", "Location", "Allow", "WWW-Authenticate"} {
			rec.Header().Del(name)
		}
		if r.Method == http.MethodHead {
			rec.Code = http.StatusMethodNotAllowed
		}
		if r.URL.RawQuery == "limit=21" {
			if n++; n == 1 {
				rec.Code = http.StatusServiceUnavailable
			}
		}
	})
	r := runSuite(t, bare, "/v1", &conformance.Options{Parallel: 1})
	out := write(t, r, Text, nil)
	for _, f := range []Format{JSON, HTML} {
		if n := len(write(t, r, f, nil)); n > 300_000 {
			t.Errorf("%s has %d bytes", f, n)
		}
	}
	wantParts(t, write(t, r, Markdown, nil), []string{"<summary>the first warning: <code>auth.challenge<"}, nil)
	if r.Level = conformance.Recommended; !strings.Contains(write(t, r, Text, nil), "\n\nWARN auth.challenge\n  the 401 has no") {
		t.Error("a warning that counts is not shown in full")
	}
	wantParts(t, out, []string{
		"WARN 2 checks: the 401 has no WWW-Authenticate (clause RFC 9110, 15.5.2; first auth.challenge)\n",
		"WARN http.head: ",
		"WARN http.location: ",
		"WARN 3 more causes: http.method, deprecation.deprecation.present, deprecation.sunset.present (-v shows them)\n",
		"INCONCLUSIVE pets.list.empty: ",
		"\nrequests were sent again after: 503 Service Unavailable (1); see ",
		"\nconformant: ",
	}, []string{"FAIL"})
	wantLines(t, out, 10)
}
