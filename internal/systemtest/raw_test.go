package systemtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// response is a response without what changes with time.
type response struct {
	Status int
	Header http.Header
	Body   string
}

// perform sends a request unchanged: the client of net/http would clean it.
func perform(t *testing.T, addr, base string, s step) response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	raw := fmt.Sprintf("%s %s%s HTTP/1.1\r\nHost: h\r\nX-Request-ID: the-same\r\n%s", s.method, base, s.target, s.fields)
	if s.body != "" {
		raw += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(s.body))
	}
	go func() { _, _ = io.WriteString(conn, raw+"\r\n"+s.body) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: s.method})
	if err != nil {
		t.Fatalf("%s %s: %v", s.method, s.target, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", s.method, s.target, err)
	}
	resp.Header.Del("Date")
	return response{resp.StatusCode, resp.Header, string(body)}
}
