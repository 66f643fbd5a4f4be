package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// The server ends requests that are too slow, too large or idle.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, command(t.TempDir()))
	key := "Authorization: Bearer " + s.Key + "\r\n"
	for name, tt := range map[string]struct {
		send, want string
		least      time.Duration
	}{
		"nothing":              {"", "", 20 * time.Second},
		"half a header":        {"GET /v1/pets HTTP/1.1\r\nHost: x\r\n", "", 20 * time.Second},
		"half a body":          {"POST /v1/pets HTTP/1.1\r\nHost: x\r\n" + key + "Content-Type: application/json\r\nContent-Length: 30\r\n\r\n{", " 408 ", 20 * time.Second},
		"a header over 16 KiB": {"GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 30_000) + "\r\n\r\n", " 431 ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.Host())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			began := time.Now()
			_, _ = io.WriteString(conn, tt.send)
			_ = conn.SetReadDeadline(began.Add(process.Patience))
			got, err := io.ReadAll(conn)
			took := time.Since(began)
			if err != nil && !strings.Contains(err.Error(), "reset") || !strings.Contains(string(got), tt.want) || (tt.want == "") != (len(got) == 0) || took < tt.least-time.Second {
				t.Errorf("after %v: %q, %v", took, got, err)
			}
		})
	}
}
