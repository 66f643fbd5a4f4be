package conformance_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
)

// limited limits how many connections or operations a server has at a time. It holds the
// concurrent requests of one check until it has refused one, so that every run meets
// the limit.
type limited struct {
	net.Listener
	connections, operations int64 // zero: no limit
	reset                   bool  // reset connections instead of closing them
	status                  int
	retryAfter              string

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
		if l.reset {
			conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
		l.refuse()
	}
}

// limit is the wrapper of a handler.
func (l *limited) limit(next http.Handler) http.Handler {
	kept := requests(create+`.*pets\.create\.concurrent`, func(*http.Request) { <-l.refused })(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer l.active.Add(-1)
		if l.active.Add(1) <= l.operations || l.operations == 0 {
			kept.ServeHTTP(w, r)
			return
		}
		l.refuse()
		if l.retryAfter != "" {
			w.Header().Set("Retry-After", l.retryAfter)
		}
		http.Error(w, "too many requests", l.status)
	})
}

// A server that limits how much it does at a time is conformant. The run sends fewer
// requests at a time and says so.
func TestLimited(t *testing.T) {
	for name, l := range map[string]*limited{
		"connections beyond 20 are closed":                  {connections: 20},
		"connections beyond 20 are reset":                   {connections: 20, reset: true},
		"a third operation gets 429":                        {operations: 2, status: 429},
		"a third operation gets 429, with Retry-After at 0": {operations: 2, status: 429, retryAfter: "0"},
		"a third operation gets 503":                        {operations: 2, status: 503},
		"a third operation gets 503, with Retry-After at 0": {operations: 2, status: 503, retryAfter: "0"},
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
			if out := text(r); r.Outcome != conformance.Conformant || !strings.Contains(out, " at a time;") || r.Limit == 0 {
				t.Errorf("limit %d, %s\n%s", r.Limit, r.Headline(), out)
			}
			t.Logf("limit %d, %v, %d inconclusive, %.1f s", r.Limit, r.Retries, r.Counts.Inconclusive, r.Seconds)
		})
	}
}

// A request that gets 503 is sent again. If the target stays at 503, the check ends with
// an error if the target says when to try again, and fails otherwise.
func TestUnavailable(t *testing.T) {
	const check = "pets.create.400.body.null"
	for _, tt := range []struct {
		name, retryAfter string
		stays            bool
		want             conformance.Verdict
	}{
		{"passes", "", false, conformance.Pass},
		{"passes, with Retry-After", "1", false, conformance.Pass},
		{"stays", "", true, conformance.Fail},
		{"stays, with Retry-After", "1", true, conformance.Errored},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			r := run(t, variant{http: responses(`\r\n\r\nnull$`, 0, func(res *response) {
				if n.Add(1) <= 2 || tt.stays {
					res.status = 503
					res.header.Set("Retry-After", tt.retryAfter)
				}
			})}, conformance.Options{Run: []string{check, "pets.create.status"}})
			if got := result(t, r, check); got.Verdict != tt.want || r.Retries["503 Service Unavailable"] < 2 {
				t.Errorf("%s: %s, %s, %v", r.Headline(), got.Verdict, got.Message, r.Retries)
			}
		})
	}
}

// A target without limits gets all requests of a check at once.
func TestUnlimited(t *testing.T) {
	var all sync.WaitGroup
	all.Add(32)
	r := run(t, variant{http: requests(create+`.*pets\.create\.concurrent`, func(*http.Request) {
		all.Done()
		all.Wait()
	})}, conformance.Options{Run: []string{"pets.create.concurrent"}})
	if r.Limit != 0 || r.Counts.Pass != 1 {
		t.Errorf("limit %d\n%s", r.Limit, text(r))
	}
}
