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

// newPair returns both ends of a connection, the first with our deadlines.
func newPair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newDeadlineListener(ln.(*net.TCPListener))
	t.Cleanup(func() { l.Close() })
	theirs, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	ours, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	return ours, theirs
}

func TestDeadlines(t *testing.T) {
	ours, theirs := newPair(t)
	read := func() error {
		_, err := ours.Read(make([]byte, 1))
		return err
	}
	set := func(at time.Time) {
		t.Helper()
		if err := ours.SetReadDeadline(at); err != nil {
			t.Fatal(err)
		}
	}
	set(time.Now().Add(10 * time.Millisecond))
	if err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading past the deadline: %v", err)
	}

	// A deadline moved on, or taken away, is one no more.
	for _, at := range []time.Time{time.Now().Add(time.Hour), {}} {
		set(at)
		go func() {
			time.Sleep(2 * sweepInterval)
			theirs.Write([]byte("x"))
		}()
		if err := read(); err != nil {
			t.Errorf("reading before the deadline %v: %v", at, err)
		}
	}

	// What interrupts a read does so at once.
	interrupted := make(chan error)
	go func() { interrupted <- read() }()
	set(time.Unix(1, 0))
	if err := <-interrupted; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an interrupted read: %v", err)
	}

	// A peer that takes nothing is not written to for ever.
	if err := ours.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(struct{ io.Writer }{ours}, zeros{})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing past the deadline: %v", err)
	}
}

// TestConnectionLimit: above the limit, Accept waits until another connection
// or the listener is closed.
func TestConnectionLimit(t *testing.T) {
	ours, _ := newPair(t)
	l := ours.(*deadlineConn).listener
	l.limit = 1
	accept := func() <-chan error {
		done := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				t.Cleanup(func() { conn.Close() })
			}
			done <- err
		}()
		return done
	}
	theirs, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	accepted := accept()
	select {
	case err := <-accepted:
		t.Fatalf("accepted above the limit: %v", err)
	case <-time.After(50 * time.Millisecond): // without the limit it would return at once
	}
	ours.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	accepted = accept()
	l.Close()
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepting from a closed listener: %v", err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// TestSweepEnds makes sure that nothing goes on when there are no connections.
func TestSweepEnds(t *testing.T) {
	ours, _ := newPair(t)
	l := ours.(*deadlineConn).listener
	ours.Close()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(sweepInterval / 10) {
		l.mu.Lock()
		sweeping, conns := l.sweeping, len(l.conns)
		l.mu.Unlock()
		if !sweeping && conns == 0 {
			return
		}
	}
	t.Error("the sweep goes on without connections")
}

// TestSlowClients has the timeouts of an http.Server enforced through our
// connections: a header that never ends, a body that never comes, and a
// connection that is kept and not used.
func TestSlowClients(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := http.Server{
		ReadHeaderTimeout: 50 * time.Millisecond,
		ReadTimeout:       100 * time.Millisecond,
		IdleTimeout:       100 * time.Millisecond,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}),
	}
	go srv.Serve(newDeadlineListener(ln.(*net.TCPListener)))
	t.Cleanup(func() { srv.Close() })
	for name, sent := range map[string]string{
		"nothing":       "",
		"half a header": "GET / HTTP/1.1\r\nHost: x\r\n",
		"half a body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
		"idle":          "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
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

// TestCloseSilent: who has brought no request is closed, who is bringing the
// body of one is not.
func TestCloseSilent(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newDeadlineListener(ln.(*net.TCPListener))
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	closed := func(conn net.Conn) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection was not closed: %v", err)
		}
	}
	silent, client := dial(), dial()
	srv := http.Server{
		ConnState: new(counters).connection,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l.closeSilent()
			closed(silent)
			_, _ = io.WriteString(client, "body")
			if b, err := io.ReadAll(r.Body); err != nil || string(b) != "body" {
				http.Error(w, fmt.Sprint(err), http.StatusInternalServerError)
			}
		}),
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	if _, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", resp, err)
	}
	closed(dial()) // as one is that the listener had waiting
}
