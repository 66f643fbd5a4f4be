package main

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// begin sends a request without its body, and waits until the server has it.
func begin(s *server) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.Key+"\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: 30\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		s.t.Fatalf("response to the header: %q, %v", line, err)
	}
	return conn
}

// finish sends the body of a request that was begun. The pet must be created.
func finish(t *testing.T, conn net.Conn) {
	t.Helper()
	_, _ = io.WriteString(conn, `{"name":"slow","categoryId":1}`)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusCreated || !resp.Close {
		t.Errorf("the request in flight: %s, Connection: close %v", resp.Status, resp.Close)
	}
}

// Before the address closes, /readyz is 503 for a second. A busy machine may
// miss that, but not every time.
func TestDrainTurnsAway(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := start(t, t.TempDir())
		begin(s)
		_ = s.Signal(syscall.SIGTERM)
		var ready, alive process.Response
		s.Until("/readyz changes", func() bool {
			ready, _ = s.Send("GET", s.root()+"/readyz", "")
			alive, _ = s.Send("GET", s.root()+"/healthz", "")
			return ready.Status != http.StatusOK
		})
		s.Kill()
		if ready.Status == http.StatusServiceUnavailable && alive.Status == http.StatusOK {
			return
		}
		t.Logf("/readyz: %d, /healthz: %d", ready.Status, alive.Status)
	}
	t.Error("/readyz is not 503 while the server stops and /healthz is 200")
}

// A connection without a complete request does not delay the end.
func TestDrainClosesSilentConnections(t *testing.T) {
	t.Parallel()
	plain := func(host string) (net.Conn, error) { return net.Dial("tcp", host) }
	handshake := func(protocols ...string) func(string) (net.Conn, error) {
		return func(host string) (net.Conn, error) {
			return tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols})
		}
	}
	for _, tt := range []struct {
		name string
		tls  bool
		dial func(host string) (net.Conn, error)
		send string
	}{
		{"nothing sent", false, plain, ""},
		{"half a header", false, plain, "GET /v1/pets HTTP/1.1\r\nHos"},
		{"no TLS handshake", true, plain, ""},
		{"TLS handshake only", true, handshake(), ""},
		{"TLS handshake for HTTP/2 only", true, handshake("h2"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"-drain=4s"} // net/http waits for five
			if tt.tls {
				process.Certificate(t, dir)
				args = append(args, "-tls-cert=cert.pem", "-tls-key=key.pem")
			}
			for range 5 { // a busy machine may take four seconds too, but not every time
				s := start(t, dir, args...)
				s.Client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
				conn, err := tt.dial(s.Host())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, tt.send)
				s.Must(200, "GET", "/openapi.json", "") // accepted after the silent connection
				if s.Exit(syscall.SIGTERM) == 0 {
					return
				}
			}
			t.Error("the silent connection delays the end")
		})
	}
}
