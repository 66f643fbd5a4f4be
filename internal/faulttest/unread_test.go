//go:build linux

package faulttest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestUnreadResponses requests large pages and reads none of them, while
// another client gets pets and small lists.
func TestUnreadResponses(t *testing.T) {
	t.Run("HTTP/1.1", func(t *testing.T) {
		dir := t.TempDir()
		testUnread(t, start(t, dir), http.DefaultClient, func(s *server) (ended func() bool) {
			for range 150 {
				conn, err := net.Dial("tcp", s.host)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
					t.Fatal(err)
				}
				// Four responses are more than the system's buffers hold.
				ask := "GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key + "\r\n"
				if _, err := io.WriteString(conn, strings.Repeat(ask+"\r\n", 3)+ask+"Connection: close\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.send(oneShot, "GET", "/pets/1", ""); err != nil { // accepted after all others
				t.Fatal(err)
			}
			return func() bool { return s.vars().Connections <= 2 }
		})
	})
	t.Run("HTTP/2 with a window of 0", func(t *testing.T) {
		dir := t.TempDir()
		client := writeCertificate(t, dir)
		s := start(t, dir, "env", "PETSTORE_TLS_CERT=cert.pem", "PETSTORE_TLS_KEY=key.pem")
		testUnread(t, s, client, func(s *server) (ended func() bool) {
			var open atomic.Int64
			for range 2 {
				conn, err := tls.Dial("tcp", s.host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				open.Add(1)
				go func() {
					defer open.Add(-1)
					openStreams(t, s, conn)
				}()
			}
			return func() bool { return open.Load() == 0 }
		})
	})
}

// testUnread runs an attack on s, which has no pets, and uses client until the
// attack has ended.
func testUnread(t *testing.T, s *server, client *http.Client, attack func(*server) (ended func() bool)) {
	small, large := petBody("Rex"), petBody(strings.Repeat("x", 1_000_000))
	for _, body := range []string{small, large, large, large, large, large} {
		if a, err := s.send(client, "POST", "/pets", body); err != nil || a.status != http.StatusCreated {
			t.Fatalf("creating a pet: %d %.300s (%v)", a.status, a.body, err)
		}
	}
	before, served := s.status("VmRSS"), 0
	ended := attack(s)
	s.until("the unread responses are cut off", func() bool {
		for _, path := range []string{"/pets/1", "/pets?limit=1"} {
			a, err := s.send(client, "GET", path, "")
			if err != nil || a.status != http.StatusOK {
				t.Fatalf("GET %s: %d %.300s (%v)", path, a.status, a.body, err)
			}
			served++
		}
		return ended()
	})
	most := s.status("VmHWM")
	t.Logf("memory: %d MB before, %d MB at most, %d MB after; another client made %d requests", before>>10, most>>10, s.status("VmRSS")>>10, served)
	if most > 300_000 {
		t.Errorf("the server used %d MB of memory", most>>10)
	}
}

// openStreams opens as many streams of an HTTP/2 connection as the server
// allows, each for a large page and with a window of 0. It returns once all of
// them have ended.
func openStreams(t *testing.T, s *server, conn net.Conn) {
	const (
		headers, reset, settings, maxStreams = 1, 3, 4, 3
		endStream, ack, endHeaders           = 1, 1, 4
	)
	send := func(kind, flags byte, stream uint32, payload string) {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
		b = binary.BigEndian.AppendUint32(append(b, flags), stream)
		if _, err := conn.Write(append(b, payload...)); err != nil {
			t.Error(err)
		}
	}
	// The fields have these indexes in the static table of HPACK: :method GET,
	// :scheme https, :authority, :path, authorization.
	field := func(s string) string { return string(rune(len(s))) + s }
	request := "\x82\x87\x01" + field("x") + "\x04" + field("/v1/pets?limit=100") + "\x0f\x08" + field("Bearer "+s.key)

	_, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	send(settings, 0, 0, "\x00\x04\x00\x00\x00\x00") // SETTINGS_INITIAL_WINDOW_SIZE: 0
	for open := uint32(0); ; {
		var h [9]byte
		if _, err := io.ReadFull(conn, h[:]); err != nil {
			t.Error(err)
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(h[:])>>8)
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Error(err)
			return
		}
		switch kind, flags := h[3], h[4]; {
		case kind == settings && flags&ack == 0:
			send(settings, ack, 0, "")
			for p := payload; len(p) >= 6; p = p[6:] {
				if binary.BigEndian.Uint16(p) == maxStreams {
					open = binary.BigEndian.Uint32(p[2:])
				}
			}
			for i := range open {
				send(headers, endStream|endHeaders, 2*i+1, request)
			}
		case kind == reset, kind == headers && flags&endStream != 0:
			if open--; open == 0 {
				return
			}
		}
	}
}

// writeCertificate writes cert.pem and key.pem for 127.0.0.1, and returns a
// client that trusts the certificate.
func writeCertificate(t *testing.T, dir string) *http.Client {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	cert := srv.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return srv.Client()
}
