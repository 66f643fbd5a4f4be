package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// A report has about as many causes as the target has bugs, says what the bug is, and
// fits on a screen.
func TestCauses(t *testing.T) {
	onErrors := func(change func(*response)) wrapper {
		return responses("", 0, func(res *response) {
			if res.status >= 400 {
				change(res)
			}
		})
	}
	for _, tt := range []struct {
		name   string
		http   wrapper
		first  string // the first cause
		clause string
		max    int // the number of causes of failures
	}{
		{"errors are text", onErrors(func(res *response) {
			res.header.Set("Content-Type", "text/plain; charset=utf-8")
			res.body = http.StatusText(res.status)
		}), "the bodies of errors are not JSON", "error-code", 1},
		{"errors have another shape", onErrors(func(res *response) { res.body = `{"statusCode":400,"error":"Bad Request"}` }),
			"the bodies of errors do not have what an Error has", "error-code", 1},
		{"ids are strings", edit("", 0, `"id":(\d+)`, `"id":"$1"`), `the list has an element that is not a Pet: id: is the string "1", not an integer`, "pet", 1},
		{"ids are UUIDs in lists alone", edit(list, 200, `"id":(\d+)`, `"id":"5e7a-$1"`), `the list has an element that is not a Pet: id: is the string "5e7a-`, "pet", 3},
		{"everything is wrapped", responses("", 0, func(res *response) { res.body = `{"data":` + res.body + `}` }),
			`bodies are wrapped in an object with the member "data"`, "pet", 2},
		{"every bad body gets 500", responses("", 400, func(res *response) { res.status, res.body = 500, failure(500) }),
			"bad requests get 500 Internal Server Error", "server-errors", 2},
		{"every bad body gets 422", responses("", 400, func(res *response) { res.status, res.body = 422, failure(422) }),
			"bad requests get 422 Unprocessable Entity, want 400", "status-values", 1},
		{"an id that is no number ends the connection", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if id, ok := strings.CutPrefix(r.URL.Path, "/v1/pets/"); ok && strings.Trim(id, "0123456789-") != "" {
					panic(http.ErrAbortHandler)
				}
				next.ServeHTTP(w, r)
			})
		}, "GET /pets/{petId}: the connection was closed without a response", "get-missing", 1},
		{"no request needs a key", requests("", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testKey) }),
			"requests without a valid credential are processed", "key-list", 1},
		{"the key matters up to its last character", requests("", func(r *http.Request) {
			if key := r.Header.Get("Authorization"); len(key) > 20 && strings.HasPrefix("Bearer "+testKey, key) {
				r.Header.Set("Authorization", "Bearer "+testKey)
			}
		}), "the request has the key without its last character: the response is 200 OK, want 401", "key-list", 2},
		{"limit is ignored", query(`limit=\d+`, "limit=100"), "the list has ", "limit", 2},
		{"categories are floats of 32 bits", values("", 0, "categoryId", func(s string) string {
			var f float32
			fmt.Sscan(s, &f)
			return fmt.Sprintf("%.0f", f)
		}), "the response does not show the pet as it was sent: categoryId is ", "category", 4},
		{"no pet can be read", status(fetch, 200, 404), "GET /pets/{petId} responds 404 Not Found, want 200", "get", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http}, conformance.Options{Seed: 1, Parallel: 1})
			var lines strings.Builder
			failures, results := 0, 0
			for _, c := range r.Causes() {
				fmt.Fprintf(&lines, "%s %d %s: %s\n", c.Verdict, len(c.Results), c.Clause, c.What)
				results += len(c.Results)
				if c.Verdict == conformance.Fail {
					failures++
				}
			}
			if failures == 0 || failures > tt.max || results != r.Counts.Fail+r.Counts.Warn {
				t.Errorf("%d causes of failures and %d results, want at most %d and %d:\n%s", failures, results, tt.max, r.Counts.Fail+r.Counts.Warn, &lines)
			} else if first := r.Causes()[0]; !strings.HasPrefix(first.What, tt.first) || first.Clause != tt.clause {
				t.Errorf("the first cause is not %s: %s\n%s", tt.clause, tt.first, &lines)
			}
			out := text(r)
			if n := strings.Count(out, "\n"); n > 42 || strings.Count(out, "\n  curl ") != 1 {
				t.Errorf("%d lines:\n%s", n, out)
			}
		})
	}
}

// The message about a pet that a list should not have names the request and the
// check that added it.
func TestOrigin(t *testing.T) {
	r := run(t, variant{http: both(takes(create, `"name":null`, `"name":"NULL"`), edit("", 0, `"NULL"`, `null`))},
		conformance.Options{Run: []string{"pets.create.400.name.null", "pets.list.pet"}, Parallel: 1})
	got := result(t, r, "pets.list.pet")
	if want := regexp.MustCompile(`\nthis run added it with \{"name":null,"categoryId":\d+\}, see pets\.create\.400\.name\.null$`); !want.MatchString(got.Message) {
		t.Errorf("%s: %s", got.Verdict, got.Message)
	}
}
