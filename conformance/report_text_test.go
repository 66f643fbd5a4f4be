package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// holds fails t for what text must have and has not, or must not have and
// has.
func holds(t *testing.T, text string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("the text lacks %q", s)
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

// ends returns the first line of text and the last.
func ends(text string) (string, string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[0], lines[len(lines)-1]
}

// detail is what a text has only if it is verbose.
var detail = []string{
	"What the contract leaves open, and what the target does:\n",
	"SKIP 10 checks, not selected:\n  auth.list.none ",
}

func TestText(t *testing.T) {
	r := everyVerdict(t)
	out := write(t, r, conformance.Text)
	holds(t, out, []string{
		"FAIL deprecation.sunset.date\n  the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030\n  contract: ",
		"WARN deprecation.deprecation.present",
		"KNOWN pets.create.status",
		"known: 200 <for> \"now\"",
		"ERROR ",
		"INCONCLUSIVE pets.list.empty: every filter",
		"STALE pets.list.status passes, and is on the list of known failures: it was broken once",
		"    curl -i -H \"Authorization: Bearer $PETSTORE_API_KEY\"",
		"    > Authorization: Bearer [key]\n",
		"    < X-Key: [key in base64]\n",
		", seed 5\n",
	}, detail)
	c := r.Counts
	verdict := fmt.Sprintf("not conformant: %d checks: %d passed, %d failed, %d warned, %d inconclusive, %d could not be run, 1 known to fail, 10 skipped (not selected); 1 known failure passed, and must be taken off the list",
		len(r.Results), c.Pass, c.Fail, c.Warn, c.Inconclusive, c.Errored)
	if first, last := ends(out); first != verdict || last != verdict {
		t.Errorf("the verdict is %q first and %q last, not %q", first, last, verdict)
	}
	r.Verbose = true
	holds(t, write(t, r, conformance.Text), detail, nil)
}

// Of a run in which all is well there is little to say.
func TestTextShort(t *testing.T) {
	target := newServer(t, variant{})
	target.MessagesURL = ""
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Skip: []string{"pets.list.empty"}})
	if err != nil {
		t.Fatal(err)
	}
	out := write(t, r, conformance.Text)
	_, last := ends(out)
	if want := "conformant: 253 checks: 192 passed, 0 failed, 61 skipped (60 no messages URL, 1 not selected)"; last != want || strings.Count(out, "\n") != 3 {
		t.Errorf("want 3 lines that end with %q:\n%s", want, out)
	}
}

// The worst of targets gives a text that can be read: the common cause first,
// few failures in full, and all of them by name.
func TestTextBroken(t *testing.T) {
	missing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet && r.URL.Path == "/v1/pets" {
			fmt.Fprint(w, "[]")
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	lax := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":1,"name":"x","categoryId":2}`)
		case r.URL.Path == "/v1/pets":
			fmt.Fprint(w, "[]")
		default:
			fmt.Fprint(w, `{"id":1,"name":"x","categoryId":2}`)
		}
	})
	for _, tt := range []struct {
		name      string
		h         http.Handler
		want, not []string
	}{
		{"a route is missing", missing, []string{
			"\nEvery POST /pets with the valid key was answered 404 Not Found, whatever it asked for.\n",
			" checks: no pet could be created: ",
		}, []string{"Every GET /pets"}}, // that no pet is there may be right
		{"nothing is checked", lax, []string{
			"\nWhat is wrong, by what the answers that prove it have in common:\n  ",
			" FAIL  POST /pets was answered 201 Created\n",
			" more checks: POST /pets was answered 201 Created\n",
		}, []string{"Every "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, variant{http: func(http.Handler) http.Handler { return tt.h }}, conformance.Options{Skip: []string{"*messages*"}})
			out := write(t, r, conformance.Text)
			holds(t, out, tt.want, tt.not)
			if n := strings.Count(out, "\n    curl "); n == 0 || n > 20 {
				t.Errorf("%d failures are shown in full", n)
			}
			for _, result := range r.Results {
				if result.Verdict != conformance.Pass && result.Verdict != conformance.Skip && !strings.Contains(out, result.ID) {
					t.Errorf("%s (%s) is not named", result.ID, result.Verdict)
				}
			}
			r.Verbose = true
			if n := strings.Count(write(t, r, conformance.Text), "\n    curl "); n < r.Counts.Fail {
				t.Errorf("%d of %d failures are shown in full to who asks for all", n, r.Counts.Fail)
			}
		})
	}
}
