package conformance_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
)

// limited closes connections beyond three.
type limited struct {
	net.Listener
	open atomic.Int64
}

type limitedConn struct {
	net.Conn
	closed func()
}

func (c *limitedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.open.Add(1) <= 3 {
			return &limitedConn{conn, sync.OnceFunc(func() { l.open.Add(-1) })}, err
		}
		l.open.Add(-1)
		conn.Close()
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
				srv.Listener = &limited{Listener: srv.Listener}
			}
			srv.Start()
			defer srv.Close()
			r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1", Key: testKey}, &conformance.Options{Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != conformance.Conformant || len(r.Unserved) == 0 {
				t.Errorf("%s", text(r))
			}
		})
	}
}
