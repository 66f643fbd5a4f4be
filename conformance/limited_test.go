package conformance_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
)

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
			if r.Outcome != conformance.Conformant {
				t.Errorf("%s", text(r))
			}
		})
	}
}
