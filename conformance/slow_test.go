package conformance_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore/petstoretest"
)

// slow skips a test that spends most of its time with waiting.
func slow(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("it waits for half a minute: add -args -full")
	}
}

// limited returns a hook of a server that closes connections beyond three.
func limited() func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > 3 {
				conn.Close()
			}
		case http.StateClosed:
			open.Add(-1)
		}
	}
}

// crowded responds with a status to the third creation at a time.
func crowded(status int) wrapper {
	return func(next http.Handler) http.Handler {
		var active atomic.Int64
		slow := requests(create, func(*http.Request) { time.Sleep(meet) })(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer active.Add(-1)
			if active.Add(1) > 2 {
				http.Error(w, "too many requests", status)
				return
			}
			slow.ServeHTTP(w, r)
		})
	}
}

// A server that limits how much it does at a time is conformant: a request that is sent
// again is alone.
func TestLimited(t *testing.T) {
	slow(t)
	t.Parallel()
	for name, v := range map[string]variant{
		"connections beyond 3 are closed": {},
		"a third operation gets 429":      {http: crowded(429)},
		"a third operation gets 503":      {http: crowded(503)},
		"503 for 20 seconds, and says so": {http: func(next http.Handler) http.Handler {
			began := time.Now()
			return when(func(*http.Request) bool { return time.Since(began) < 20*time.Second }, responses("", 0, func(res *response) {
				res.status, res.body = 503, failure(503)
				res.header.Set("Retry-After", "21")
			}))(next)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewUnstartedServer(v.handler())
			if v.http == nil {
				srv.Config.ConnState = limited()
			}
			srv.Start()
			defer srv.Close()
			r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1", Key: testKey}, &conformance.Options{Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			if r.Conclusion != conformance.Conformant {
				t.Errorf("%s", text(r))
			}
		})
	}
}

// The difficult server of petstoretest is conformant.
func TestDifficult(t *testing.T) {
	slow(t)
	t.Parallel()
	h := petstoretest.NewHandler(&petstoretest.Options{Difficult: true, Seed: 1}) // not New, which would report the suite's deliberate mistakes
	srv := httptest.NewServer(h)
	defer srv.Close()
	target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: petstoretest.Key}
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Timeout: 3 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if r.Conclusion == conformance.NotJudged || h.Summary().Failures == 0 || slices.ContainsFunc(r.Results, func(result conformance.Result) bool { // a server that drops connections and cuts responses short is not conformant
		return result.ID != "http.response" && result.Verdict == conformance.Fail
	}) {
		t.Errorf("%s\n%s\n%s", r.Headline(), text(r), h.Summary())
	}
}
