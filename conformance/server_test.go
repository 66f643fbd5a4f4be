package conformance_test

import (
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore/httpapi"
)

const testKey = testserver.Key

// TestMain makes garbage collections rarer: the runs of the suite allocate much
// and keep little. More run at once than there are processors: they spend much of
// their time waiting.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "32")
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// variant is the reference implementation with one thing changed.
type variant struct {
	name string

	// What is changed: the handler, the store, or the handler's options. Nil:
	// nothing.
	http    wrapper
	pets    func(*store)
	options httpapi.Options

	opts conformance.Options
}

var full = flag.Bool("full", false, "judge every server with whole runs, as users do")

// newServer serves v on loopback.
func newServer(t testing.TB, v variant) conformance.Target {
	t.Helper()
	srv := httptest.NewUnstartedServer(v.handler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of panics
	srv.Start()
	t.Cleanup(srv.Close)
	return conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}
}

func (v variant) handler() http.Handler {
	pets := testserver.NewDouble(nil)
	if v.pets != nil {
		v.pets(pets)
	}
	v.options.Messages = pets
	h := http.StripPrefix("/v1", httpapi.New(pets, testserver.Authenticator, &v.options))
	if v.http != nil {
		h = v.http(h)
	}
	return h
}

// text returns a report as text.
func text(r *conformance.Report) string {
	var b strings.Builder
	_ = r.WriteText(&b, false)
	return b.String()
}

func withCategory(n int64) conformance.Options { return conformance.Options{Category: &n} }

const patience = 3 * time.Minute // the machine may be busy

// run judges v.
func run(t *testing.T, v variant, opts conformance.Options) *conformance.Report {
	t.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = patience
	}
	r, err := conformance.Run(t.Context(), newServer(t, v), &opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func result(t *testing.T, r *conformance.Report, id string) conformance.Result {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(r conformance.Result) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("the report does not have %s", id)
	}
	return r.Results[i]
}
