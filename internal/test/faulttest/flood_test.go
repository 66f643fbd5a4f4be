//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// TestFlood: more connections than the server has file descriptors leave enough of them for
// the keys and backups, and an established client is served. Another client waits.
func TestFlood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := serverArgs(t, "-backup-dir=.", "-backup-every=1s")
	s := process.Serve(t, process.Command(dir, append([]string{"sh", "-c", `ulimit -n 128; exec "$0" "$@"`}, args...)...))
	conn := dial(t, s)
	get := func(key string, want int) {
		t.Helper()
		fmt.Fprintf(conn, "GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", key)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != want {
			t.Fatalf("%v, %v; want %d", resp, err, want)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	get(s.Key, 200)
	for range 300 {
		go func() {
			if c, err := net.Dial("tcp", s.Host()); err == nil {
				t.Cleanup(func() { c.Close() })
			}
		}()
	}
	s.Until("no client can connect any more", func() bool { return s.Metric("petstore_connections") == 64 })
	time.Sleep(2 * time.Second) // backups are made meanwhile
	get(s.Key, 200)
	created := mustRun(t, dir, "keys", "create", "alice")
	get(created[:len(created)-1], 200)
	if s.Metric("petstore_backup_age_seconds") > 1.9 || s.Metric("petstore_keys_readable") != 1 {
		t.Errorf("backups or keys have failed:\n%s", s.Tail())
	}
}
