package main

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// patient lets the server wait for requests on a busy machine too.
const patient = "-drain=2m"

// halfSent is a request whose body is missing.
type halfSent struct {
	t    *testing.T
	conn net.Conn
}

const missingBody = `{"name":"slow","categoryId":1}`

func sendHalf(s *server) *halfSent {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.Key+"\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: 30\r\n\r\n")
	// The server asks for the body: it has the request.
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		s.t.Fatalf("response to the header: %q, %v", line, err)
	}
	return &halfSent{s.t, conn}
}

// finish sends the body. The pet must be created.
func (h *halfSent) finish() {
	h.t.Helper()
	_, _ = io.WriteString(h.conn, missingBody)
	resp, err := http.ReadResponse(bufio.NewReader(h.conn), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusCreated || !resp.Close {
		h.t.Errorf("the request in flight: %s, Connection: close %v", resp.Status, resp.Close)
	}
}

// health returns the status of a health check, or 0 if there is no response.
func (s *server) health(path string) int {
	r, err := s.Send("GET", s.root()+path, "")
	if err != nil {
		return 0
	}
	return r.Status
}

func TestDrainWaitsForRequests(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), patient)
	slow := sendHalf(s)
	if got := s.health("/readyz"); got != http.StatusOK {
		t.Errorf("/readyz: %d before the signal", got)
	}
	s.signal(syscall.SIGTERM)
	s.Until("the address is closed", func() bool { return s.health("/healthz") == 0 })
	slow.finish()
	s.exits(0)
}

// Before the address closes, /readyz is 503 for a second. A busy machine may
// miss that, but not every time.
func TestDrainTurnsAway(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := start(t, t.TempDir())
		sendHalf(s)
		s.signal(syscall.SIGTERM)
		ready, alive := http.StatusOK, 0
		s.Until("/readyz changes", func() bool {
			ready, alive = s.health("/readyz"), s.health("/healthz")
			return ready != http.StatusOK
		})
		s.Kill()
		if ready == http.StatusServiceUnavailable && alive == http.StatusOK {
			return
		}
		t.Logf("/readyz: %d, /healthz: %d", ready, alive)
	}
	t.Error("/readyz is not 503 while the server stops and /healthz is 200")
}

func TestDrainEnds(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "-drain=100ms")
	sendHalf(s)
	s.signal(os.Interrupt)
	s.exits(1)
	s.logs("1 connections cut")
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "-drain=1h")
	sendHalf(s)
	s.signal(syscall.SIGTERM)
	s.logs("msg=stopping")
	s.signal(syscall.SIGTERM)
	s.exits(1)
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
