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

func wantParts(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("the text does not have %q", s)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestText(t *testing.T) {
	r := newLeakyReport(t)
	out := write(t, r, Text, nil)
	wantParts(t, out,
		"FAIL pets.create.status.absent: a valid pet without a status is added: the response is 200 OK, want 201 Created\n",
		"FAIL errors.object: the body of a 401 is not an Error: the body is not valid JSON\n",
		"FAIL deprecation.sunset.date: the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030\n",
		"\n  these may follow, since they fail on the same exchanges or pets: errors.code, errors.message, errors.status\n",
		"WARN 1 more check: deprecation.deprecation.present\n",
		"the target responds 503 Service Unavailable and does not serve the request\n",
		"INCONCLUSIVE 10 checks: messages.id, messages.text, ",
		"STALE pets.list.status: known to fail, but passed; must be removed from the list of known failures\n",
		"\n  clause 2.1: The status may be absent when a pet is added.\n  again, when sent alone: yes\n  curl -i ",
		"\n-v shows every failed check with its curl command\n",
		"\nrequests were sent again after: 503 Service Unavailable (",
	)
	if n := strings.Count(out, "\n"); n > 27 {
		t.Errorf("%d lines:\n%s", n, out)
	}
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
	wantParts(t, verbose, "\nKNOWN pets.create.status: a valid pet is added: the response is 200 OK, want 201 Created (200 <for> \"now\")\n")
	for _, result := range r.Results {
		if result.Verdict != conformance.Pass && result.Verdict != conformance.Skip && !strings.Contains(verbose, " "+result.ID) {
			t.Errorf("the verbose text does not name %s (%s)", result.ID, result.Verdict)
		}
	}
	if n := strings.Count(verbose, "\n  curl "); n != c.Fail+c.Warn+1 {
		t.Errorf("the verbose text has %d curl commands for %d failures and %d warnings", n, c.Fail, c.Warn)
	}
}

// A run that skips checks is never called conformant.
func TestTextOfPartial(t *testing.T) {
	noMessages := testserver.Changed(testserver.New(5), func(r *http.Request, rec *httptest.ResponseRecorder) {
		if r.URL.Path == "/v1/messages" {
			rec.Code = http.StatusNotFound
		}
	})
	r := runSuite(t, noMessages, "", &conformance.Options{Skip: []string{"pets.list.ids"}})
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

// The text on a conformant target has at most 8 lines. The other reports are short too.
func TestTextOfConformant(t *testing.T) {
	bare := testserver.Changed(testserver.New(5), func(r *http.Request, rec *httptest.ResponseRecorder) {
		for _, name := range []string{"Deprecation", "Sunset", "Location", "WWW-Authenticate"} {
			rec.Header().Del(name)
		}
	})
	r := runSuite(t, bare, "/v1", &conformance.Options{})
	out := write(t, r, Text, nil)
	if n := strings.Count(out, "\n"); n > 8 || strings.Contains(out, "FAIL") {
		t.Errorf("%d lines:\n%s", n, out)
	}
	for _, f := range []Format{JSON, HTML} {
		if n := len(write(t, r, f, nil)); n > 200_000 {
			t.Errorf("%s has %d bytes", f, n)
		}
	}
	wantParts(t, out, "WARN auth.challenge: ", "WARN http.location: ", "\nconformant: ")
	if r.Level = conformance.Recommended; !strings.Contains(write(t, r, Text, nil), "\n\nWARN http.location\n  the 201 has no Location\n") {
		t.Errorf("a warning that counts is not shown in full:\n%s", write(t, r, Text, nil))
	}
}
