package report

import (
	"fmt"
	"net/http"
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

// details are parts that only a verbose text has.
var details = []string{
	"What the target does where the contract leaves it open:\n",
	"SKIP 65 checks: not selected\n  ",
}

func TestText(t *testing.T) {
	r := newLeakyReport(t)
	out := write(t, r, Text, nil)
	wantParts(t, out, []string{
		"FAIL deprecation.sunset.date\n  the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030\n  clause 4.3, 9: GET ",
		"WARN deprecation.deprecation.present",
		"KNOWN pets.create.status\n  known: 200 <for> \"now\"\n",
		"ERROR ",
		"INCONCLUSIVE pets.list.empty: every filter",
		"STALE pets.list.status passes, and is on the list of known failures: it was broken once",
		"\n  curl -i -H \"Authorization: Bearer $PETSTORE_API_KEY\"",
		"\n  > Authorization: Bearer [key]\n",
		"\n  < X-Key: [key in base64]\n",
		", seed 5\n",
	}, details)
	c := r.Counts
	verdict := fmt.Sprintf("not conformant: %d checks: %d passed, %d failed, %d with warnings, %d inconclusive, %d could not be run, 1 known to fail, %d skipped (not selected); 1 known failure passed and must be removed from the list",
		len(r.Results), c.Pass, c.Fail, c.Warn, c.Inconclusive, c.Errored, c.Skip)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if first, last := lines[0], lines[len(lines)-1]; first != verdict || last != verdict {
		t.Errorf("the verdict is %q first and %q last, want %q", first, last, verdict)
	}
	wantParts(t, write(t, r, Text, &Options{Verbose: true}), details, nil)
}

func TestTextOfConformant(t *testing.T) {
	r := runSuite(t, testserver.New(5), "", &conformance.Options{Skip: []string{"pets.list.empty"}})
	out := write(t, r, Text, nil)
	if want := "\nconformant: 254 checks: 193 passed, 0 failed, 60 skipped (no messages URL), 1 skipped (not selected)\n"; !strings.HasSuffix(out, want) || strings.Count(out, "\n") != 3 {
		t.Errorf("want 3 lines that end with %q:\n%s", want, out)
	}
}

// A target with many faults gets a readable text: the common cause first, a few
// failures in full, and all of them by name.
func TestTextOfBroken(t *testing.T) {
	noRoutes := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet && r.URL.Path == "/v1/pets" {
			fmt.Fprint(w, "[]")
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}
	noChecks := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		if r.Method != http.MethodPost && r.URL.Path == "/v1/pets" {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprint(w, `{"id":1,"name":"x","categoryId":2}`)
	}
	for _, tt := range []struct {
		name string
		h    http.HandlerFunc
		want []string
	}{
		{"a route is missing", noRoutes, []string{" checks: no pet could be created: a valid pet is added: the response is 404 Not Found"}},
		{"nothing is checked", noChecks, []string{
			"\nThe problems by the exchanges that prove them:\n  ",
			" FAIL  POST /pets gets 201 Created\n",
			" more checks: POST /pets gets 201 Created\n",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runSuite(t, tt.h, "", nil)
			out := write(t, r, Text, nil)
			wantParts(t, out, tt.want, nil)
			if n := strings.Count(out, "\n  curl "); n == 0 || n > 20 {
				t.Errorf("%d failures are in full, want 1 to 20", n)
			}
			for _, result := range r.Results {
				if result.Verdict != conformance.Pass && result.Verdict != conformance.Skip && !strings.Contains(out, result.ID) {
					t.Errorf("the text does not name %s (%s)", result.ID, result.Verdict)
				}
			}
			if n := strings.Count(write(t, r, Text, &Options{Verbose: true}), "\n  curl "); n < r.Counts.Fail {
				t.Errorf("the verbose text has %d of %d failures in full", n, r.Counts.Fail)
			}
		})
	}
}
