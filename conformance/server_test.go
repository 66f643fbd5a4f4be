package conformance_test

import (
	"context"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore/httpapi"
)

const testKey = testserver.Key

// TestMain makes garbage collections rarer: the runs of the suite allocate much and keep
// little.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// variant is the reference implementation with one thing changed.
type variant struct {
	name string

	// What is changed: the handler, the store, the handler's options, or what happens to
	// connections. nil: nothing.
	http    wrapper
	pets    func(*store)
	options httpapi.Options
	conns   func(net.Conn, http.ConnState)

	at     time.Time                 // when it runs; zero: in 2000
	target func(*conformance.Target) // changes the target that the suite gets
	opts   conformance.Options
	until  string // the ID of a check: the run ends after the scenario in which it fails
}

var full = flag.Bool("full", false, "judge every server with whole runs, as users do")

// newServer serves v on loopback.
func newServer(t testing.TB, v variant) conformance.Target {
	t.Helper()
	srv := httptest.NewServer(v.handler())
	t.Cleanup(srv.Close)
	return targetAt(srv.URL)
}

func targetAt(url string) conformance.Target {
	return conformance.Target{URL: url + "/v1", MessagesURL: url + "/v1", Key: testKey}
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

// serve serves v in a bubble of package synctest, in which waiting takes no time. Its
// connections are pipes. Each request takes a millisecond.
func serve(t *testing.T, v variant, use func(*testing.T, conformance.Target, *conformance.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if !v.at.IsZero() {
			time.Sleep(time.Until(v.at))
		}
		target := targetAt("http://127.0.0.1:8080") // no address is dialed
		if v.target != nil {
			v.target(&target)
		}
		pipes := make(testserver.Pipes)
		srv := &http.Server{
			Handler:   requests("", func(*http.Request) { time.Sleep(time.Millisecond) })(v.handler()),
			ConnState: v.conns,
			ErrorLog:  log.New(io.Discard, "", 0), // panics
		}
		go srv.Serve(pipes)
		defer srv.Shutdown(context.Background())
		v.opts.Transport = &http.Transport{
			DialContext: pipes.Dial, DisableCompression: true, MaxIdleConnsPerHost: 64, ExpectContinueTimeout: time.Second,
		}
		use(t, target, &v.opts)
	})
}

// run judges v.
func run(t *testing.T, v variant) (r *conformance.Report) {
	t.Helper()
	serve(t, v, func(t *testing.T, target conformance.Target, opts *conformance.Options) {
		var err error
		if r, err = conformance.RunUntil(t.Context(), target, opts, v.until); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// text returns a report as text.
func text(r *conformance.Report) string {
	var b strings.Builder
	_ = r.WriteText(&b, false)
	return b.String()
}

func withCategory(n int64) conformance.Options { return conformance.Options{Category: &n} }

func result(t *testing.T, r *conformance.Report, id string) conformance.Result {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(r conformance.Result) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("the report does not have %s", id)
	}
	return r.Results[i]
}
