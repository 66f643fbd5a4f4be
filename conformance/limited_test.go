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

// limited limits how many connections or operations a server has at a time. It holds
// creations for a moment until it has refused one, so that every run meets the limit.
type limited struct {
	net.Listener
	connections, operations int64 // zero: no limit
	status                  int

	open, active atomic.Int64
	refused      chan struct{}
	refuse       func() // closes refused
}

// limitedConn is an open connection.
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
		if err != nil {
			return nil, err
		}
		if n := l.open.Add(1); l.connections == 0 || n <= l.connections {
			return &limitedConn{conn, sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		conn.Close()
		l.refuse()
	}
}

// meet waits a little for another request, until one was refused.
func (l *limited) meet() {
	select {
	case <-l.refused:
	case <-time.After(20 * time.Millisecond):
	}
}

// limit is the wrapper of a handler.
func (l *limited) limit(next http.Handler) http.Handler {
	kept := requests(create, func(*http.Request) { l.meet() })(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer l.active.Add(-1)
		if l.active.Add(1) <= l.operations || l.operations == 0 {
			kept.ServeHTTP(w, r)
			return
		}
		l.refuse()
		http.Error(w, "too many requests", l.status)
	})
}

// A server that limits how much it does at a time is conformant: a request that is sent
// again is alone.
func TestLimited(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*limited{
		"connections beyond 3 are closed": {connections: 3},
		"a third operation gets 429":      {operations: 2, status: 429},
		"a third operation gets 503":      {operations: 2, status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.refused = make(chan struct{})
			l.refuse = sync.OnceFunc(func() { close(l.refused) })
			srv := httptest.NewUnstartedServer(variant{http: l.limit}.handler())
			l.Listener, srv.Listener = srv.Listener, l
			srv.Start()
			defer srv.Close()
			target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}
			r, err := conformance.Run(t.Context(), target, &conformance.Options{Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			repeated := 0
			for _, n := range r.Retries {
				repeated += n
			}
			if r.Outcome != conformance.Conformant || repeated == 0 {
				t.Errorf("%d requests were sent again\n%s", repeated, text(r))
			}
		})
	}
}
