//go:build linux

package faulttest

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestUnreadResponses requests large pages and does not read them. The server
// must cut them off, at a bounded cost of memory, and serve another client.
func TestUnreadResponses(t *testing.T) {
	parallel(t)
	clients, _ := rounds(300, 4000)
	allowFiles(t, 10_000)
	t.Run("HTTP/1.1", func(t *testing.T) {
		parallel(t)
		s := start(t, t.TempDir())
		testUnread(s, func() (ended func() bool) {
			for range clients {
				conn := s.dial()
				if err := conn.SetReadBuffer(4 << 10); err != nil {
					t.Fatal(err)
				}
				// Two responses are more than the system's buffers hold.
				requests := strings.Repeat(s.raw("GET", "/pets?limit=100", "", ""), 3) + s.raw("GET", "/pets?limit=100", "Connection: close\r\n", "")
				if _, err := io.WriteString(conn, requests); err != nil {
					t.Fatal(err)
				}
			}
			s.Must(http.StatusOK, "GET", "/pets/1", "") // accepted after all others
			return func() bool { return s.Metric("petstore_connections") <= 2 }
		})
	})
	t.Run("HTTP/2 with a window of 0", func(t *testing.T) {
		parallel(t)
		dir := t.TempDir()
		process.Certificate(t, dir)
		cmd := process.Command(dir, serverArgs(t, nil)...)
		cmd.Args = append(cmd.Args, "-tls-cert=cert.pem", "-tls-key=key.pem")
		s := &server{process.Serve(t, cmd), t}
		s.Client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		testUnread(s, func() (ended func() bool) {
			var open atomic.Int64
			for range 2 {
				conn := tls.Client(s.dial(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
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

// testUnread runs an attack on a server without pets, and uses it until the
// attack has ended.
func testUnread(s *server, attack func() (ended func() bool)) {
	s.t.Helper()
	s.create("Rex")
	for range 5 { // a page ends after them
		s.create(strings.Repeat("x", 60_000))
	}
	before, served := s.Memory("VmRSS"), 0
	ended := attack()
	s.Until("the unread responses are cut off", func() bool {
		s.Must(http.StatusOK, "GET", "/pets/1", "")
		s.Must(http.StatusOK, "GET", "/pets?limit=1", "")
		served += 2
		return ended()
	})
	most := s.Memory("VmHWM")
	if most > 300 {
		s.t.Errorf("the server used %.0f MB of memory", most)
	}
	report(s.t, "all cut off; memory %.0f MB before, at most %.0f MB; another client made %d requests", before, most, served)
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
	request := "\x82\x87\x01" + field("x") + "\x04" + field("/v1/pets?limit=100") + "\x0f\x08" + field("Bearer "+s.Key)

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
