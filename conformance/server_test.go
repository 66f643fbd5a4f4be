package conformance_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

const testKey = "Conformance_Test-Key0123456789abcXYZ"

type oneKey struct{}

func (oneKey) Authenticate(_ context.Context, key string) (string, error) {
	if key != testKey {
		return "", petstore.Errorf(petstore.CodeUnauthorized, "unknown key")
	}
	return "tester", nil
}

// variant is the reference implementation with one thing changed.
type variant struct {
	name   string
	clause string // of a broken one: what it breaks

	// What is changed: the handler seen from outside, the store behind it, or
	// the handler's options. Nil: nothing.
	http    func(http.Handler) http.Handler
	pets    func(petstore.Service) petstore.Service
	queue   func(petstore.Messages) petstore.Messages
	options httpapi.Options

	// How it is judged.
	opts conformance.Options
}

// newServer serves v on loopback.
func newServer(t testing.TB, v variant) conformance.Target {
	t.Helper()
	srv := newLoopback(v.handler())
	t.Cleanup(srv.Close)
	return conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}
}

func (v variant) handler() http.Handler {
	store := memory.New(nil)
	pets, queue := petstore.Service(store), petstore.Messages(store)
	if v.pets != nil {
		pets = v.pets(pets)
	}
	if v.queue != nil {
		queue = v.queue(queue)
	}
	v.options.Messages = queue
	h := http.StripPrefix("/v1", httpapi.New(pets, oneKey{}, &v.options))
	if v.http == nil {
		return h
	}
	return v.http(h)
}

// ofClause returns the ids of the checks that rest on a clause.
func ofClause(clause string) []string {
	var ids []string
	for _, c := range conformance.Checks() {
		if c.Clause == clause {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// text returns a report as text, for the log of a test.
func text(r *conformance.Report) string {
	var b strings.Builder
	r.Write(&b, conformance.Text)
	return b.String()
}

func TestReference(t *testing.T) {
	r, err := conformance.Run(t.Context(), newServer(t, variant{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts.Pass != len(r.Results) {
		t.Errorf("%s, with %+v\n%s", r.Headline(), r.Counts, text(r))
	}
	// What a run on an empty store leaves behind: docs/conformance.md says so.
	if got, want := len(r.Left.Pets), 101; got != want {
		t.Errorf("the run left %d pets behind, not %d", got, want)
	}
}

func background() context.Context { return context.Background() }

// newLoopback serves h on loopback, without a log of what it panics with.
func newLoopback(h http.Handler) *httptest.Server {
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	return srv
}
