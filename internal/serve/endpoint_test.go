package serve

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// get sends a request on a new connection, and reports whether a response arrives
// within the time.
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

func TestLimits(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Minute
	s := &server{log: slog.New(slog.DiscardHandler)}
	e, err := s.listen("addr", "127.0.0.1:0", 2)
	if err != nil {
		t.Fatal(err)
	}
	e.http.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	ended := make(chan error, 1)
	go e.serve(ended)
	defer e.http.Close() // while Accept waits
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", e.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	first, second := dial(), dial()
	if !get(t, first, patience) || !get(t, second, patience) {
		t.Error("two connections are not served")
	}
	third := dial()
	if get(t, third, 50*time.Millisecond) { // without the limit it would be served at once
		t.Error("a connection above the limit is served")
	}
	if _, err := io.WriteString(second, "GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 30_000)+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(second), nil); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header over 16 KiB: %v, %v", resp, err)
	}
	first.Close()
	if !get(t, third, patience) {
		t.Error("a connection within the limit is not served")
	}
	select {
	case err := <-ended:
		t.Error(err)
	default:
	}
}
