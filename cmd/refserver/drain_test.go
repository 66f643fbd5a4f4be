package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// Before the address closes, /readyz is 503 for a second. A busy machine may
// miss that, but not every time.
func TestDrainTurnsAway(t *testing.T) {
	t.Parallel()
	for range 50 {
		s := process.Serve(t, command(t.TempDir()))
		begin(t, s)
		_ = s.Signal(syscall.SIGTERM)
		var ready, alive process.Response
		s.Until("/readyz changes", func() bool {
			ready, _ = s.Send("GET", "http://"+s.Host()+"/readyz", "")
			alive, _ = s.Send("GET", "http://"+s.Host()+"/healthz", "")
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

// Connections without a complete request do not delay the end. net/http would wait
// five seconds for them, longer than -drain here. On a busy machine the server may
// need more than that anyway, but not every time.
func TestDrainClosesSilentConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	process.Certificate(t, dir)
	for range 20 {
		s := process.Serve(t, command(dir, "-drain=4s", "-tls-cert=cert.pem", "-tls-key=key.pem"))
		for _, protocol := range []string{"", "http/1.1", "h2"} {
			conn, err := net.Dial("tcp", s.Host())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if protocol != "" { // otherwise the client does not even begin the TLS handshake
				conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
				_, _ = io.WriteString(conn, "GET /v1/pets HTTP/1.1\r\nHos")
			}
		}
		s.Client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		s.Must(200, "GET", "/openapi.json", "") // accepted after the silent connections
		if s.Exit(syscall.SIGTERM) == 0 {
			return
		}
	}
	t.Error("silent connections delay the end")
}
