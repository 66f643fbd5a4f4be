package conformancetest_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
)

const limitMax = "pets.list.limit.max"

// TestConformance is what a user writes. TestOutput runs it again, also on a server
// whose lists have at most 99 pets.
func TestConformance(t *testing.T) {
	target := conformance.Target{URL: "/v1", MessagesURL: "/v1", Key: testserver.Key}
	opts := &conformance.Options{}
	good := testserver.New(0)
	newHandler := func(*testing.T) http.Handler { return good }
	if os.Getenv("TEST_BROKEN") != "" {
		newHandler = func(*testing.T) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=100", "limit=99", 1)
				good.ServeHTTP(w, r)
			})
		}
	}
	if os.Getenv("TEST_KNOWN") != "" {
		opts.Known = []conformance.Known{{ID: limitMax, Reason: "99 are enough"}}
	}
	conformancetest.RunHandler(t, newHandler, target, opts)
}

func TestOutput(t *testing.T) {
	only := "-test.run=^TestConformance$/^" + limitMax + "$"
	for _, tt := range []struct {
		name, arg, env string
		code           int
		want           []string // parts of the output
	}{
		{"failure", only, "TEST_BROKEN=1", 1, []string{
			"--- FAIL: TestConformance/" + limitMax,
			"the list has 99 pets, want 100",
			"The largest limit is 100.",
			"curl -i",
			"GET http://127.0.0.1:",
			"HTTP/1.1 200 OK",
		}},
		{"failure skipped", "-test.skip=^TestOutput$|^TestConformance$/^" + limitMax + "$", "TEST_BROKEN=1", 0, []string{"--- PASS: TestConformance"}},
		{"known failure", only, "TEST_BROKEN=1 TEST_KNOWN=1", 0, []string{"--- SKIP: TestConformance/" + limitMax, "known failure (99 are enough)"}},
		{"stale known failure", only, "TEST_KNOWN=1", 1, []string{"--- FAIL: TestConformance/" + limitMax, "99 are enough"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := process.Command("", os.Args[0], "-test.v", tt.arg)
			cmd.Env = append(cmd.Env, strings.Fields(tt.env)...)
			code, out, _ := process.Run(t, cmd)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output does not have %q", want)
				}
			}
			if strings.Contains(out, testserver.Key) {
				t.Error("the output has the key")
			}
			if n := strings.Count(out, "--- "); tt.arg == only && n != 2 {
				t.Errorf("-run selects %d tests, want the one and its parent", n)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
