package conformancetest_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

const limit = "pets.list.limit.between"

// TestConformance is what a user writes. TestOutput runs it again, also on servers that are
// broken: lists with limit=1 have two pets, or every pet is refused.
func TestConformance(t *testing.T) {
	t.Parallel()
	server, good := os.Getenv("TEST_SERVER"), testserver.New(30)
	opts := &conformance.Options{ReadOnly: server != "refuses"} // no run waits then
	if os.Getenv("TEST_SKIP") != "" {
		opts.Skip = []string{limit}
	}
	conformancetest.RunHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case server == "broken" && r.URL.RawQuery == "limit=1":
			r.URL.RawQuery = "limit=2"
		case server == "refuses" && r.Method == "POST":
			r.Body = http.NoBody
		}
		good.ServeHTTP(w, r)
	}), "/v1", testserver.Key, opts)
}

func TestOutput(t *testing.T) {
	t.Parallel()
	only := "-test.run=^TestConformance$/^" + limit + "$"
	verbose := "-test.v " + only
	for _, tt := range []struct {
		name, args, env string
		code            int
		want            []string // parts of the output
	}{
		{"failure", only, "TEST_SERVER=broken", 1, []string{
			"    --- FAIL: TestConformance/" + limit,
			": the list has 2 pets, want at most 1 (",
			"section 4.1: no list, filtered or not, has more pets than its limit",
			"curl -i ",
			"< 200 OK",
			": not conformant: ",
		}},
		{"failure skipped", "-test.v -test.skip=^TestOutput$|^TestConformance$/^" + limit + "$", "TEST_SERVER=broken", 0, []string{"--- PASS: TestConformance"}},
		{"failure left out", verbose, "TEST_SERVER=broken TEST_SKIP=1", 0, []string{"--- SKIP: TestConformance/" + limit, "not selected"}},
		{"not judged", verbose, "TEST_SERVER=refuses", 1, []string{"not judged: the target refuses every pet, the last with 400 Bad Request"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := process.Command("", append([]string{os.Args[0]}, strings.Fields(tt.args)...)...)
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
			if n := strings.Count(out, "the list has 2 pets"); tt.name == "failure" && n != 1 || strings.Contains(out, "-v shows") {
				t.Errorf("the failure is printed %d times, or with words about -v", n)
			}
			if strings.Contains(out, testserver.Key) {
				t.Error("the output has the key")
			}
			if n := strings.Count(out, "--- "); strings.HasSuffix(tt.args, only) && n != 2 {
				t.Errorf("-run selects %d tests, want the one and its parent", n)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
