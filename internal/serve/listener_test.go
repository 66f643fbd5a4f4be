package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// newServer serves srv with a listener that has the limit.
func newServer(t *testing.T, limit int, srv *http.Server) *listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(ln, limit)
	srv.ConnState = l.state
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l
}

func dial(t *testing.T, l *listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// get sends a request and reports whether a response arrives within the time.
func get(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(within))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return resp != nil
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Minute
	l := newServer(t, 2, &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	first, second := dial(t, l), dial(t, l)
	if !get(t, first, patience) || !get(t, second, patience) || l.open.Load() != 2 {
		t.Errorf("%d connections, want 2 that are served", l.open.Load())
	}
	third := dial(t, l)
	if get(t, third, 50*time.Millisecond) { // without the limit it would be served at once
		t.Error("a connection above the limit is served")
	}
	first.Close()
	if !get(t, third, patience) {
		t.Error("a connection within the limit is not served")
	}
	// The server is closed while Accept waits.
}

func TestCloseSilent(t *testing.T) {
	closed := func(conn net.Conn) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection was not closed: %v", err)
		}
	}
	var l *listener
	var silent, client net.Conn
	ready := make(chan bool)
	l = newServer(t, 100, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		l.closeSilent()
		closed(silent)
		_, _ = io.WriteString(client, "body")
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != "body" {
			http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
		}
	})})
	silent, client = dial(t, l), dial(t, l)
	close(ready)
	if _, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the request with a body that is still to come: %v, %v", resp, err)
	}
	closed(dial(t, l)) // a connection that was still to be accepted
}

// The timeouts of an http.Server hold with late deadlines.
func TestSlowClients(t *testing.T) {
	l := newServer(t, 100, &http.Server{
		ReadHeaderTimeout: 50 * time.Millisecond,
		ReadTimeout:       100 * time.Millisecond,
		IdleTimeout:       100 * time.Millisecond,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}),
	})
	for name, sent := range map[string]string{
		"nothing":       "",
		"half a header": "GET / HTTP/1.1\r\nHost: x\r\n",
		"half a body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
		"idle":          "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, l)
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(2 * time.Minute))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("the server did not close the connection: %v", err)
			}
		})
	}
}
