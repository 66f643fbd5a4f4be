package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/storage/memory"
)

// TestDiscardBody: a client without a key that sends all of a large body before
// it reads gets its response, and can send another request unless it asked to
// close the connection.
func TestDiscardBody(t *testing.T) {
	s := newServer(t, nil)
	body := strings.Repeat(" ", 4<<20)
	for range 3 {
		conn, br := dial(t, s.addr)
		for _, field := range []string{"X: keep-alive", "Connection: close"} {
			if _, err := io.WriteString(conn, postBare("/pets", body, field)); err != nil {
				t.Fatalf("%s: %v", field, err)
			}
			if r := next(t, br); r.status != 401 {
				t.Errorf("%s: response %+v", field, r)
			}
		}
		if _, err := br.ReadByte(); err != io.EOF {
			t.Errorf("the connection stays open: %v", err)
		}
	}
}

// TestDiscardBodyBounded: a client that sends too much or too slowly is
// cut off.
func TestDiscardBodyBounded(t *testing.T) {
	serve := func(timeout time.Duration) string {
		return listen(t, newHandler(memory.New(nil), testKeys, nil), func(srv *http.Server) { srv.ReadTimeout = timeout })
	}
	conn, _ := dial(t, serve(time.Hour))
	_, err := io.WriteString(conn, request("POST /pets", "Transfer-Encoding: chunked"))
	for chunk := strings.TrimSuffix(chunked(pad(1<<20), 1<<20), "0\r\n\r\n"); err == nil; {
		_, err = io.WriteString(conn, chunk)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a body without an end: the connection stays open")
	}

	addr := serve(300 * time.Millisecond)
	for _, field := range []string{"X: keep-alive", "Connection: close"} {
		conn, br := dial(t, addr)
		_, _ = io.WriteString(conn, request("POST /pets", field, "Content-Length: 1000000")+" ")
		if r := next(t, br); r.status != 401 || !r.closes {
			t.Errorf("%s: response %+v", field, r)
		}
		if _, err := br.ReadByte(); err != io.EOF {
			t.Errorf("%s: the connection stays open: %v", field, err)
		}
	}
}
