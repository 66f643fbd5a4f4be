//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// TestFlood: idle connections that take all places leave descriptors for keys and backups.
// Established clients are served, and new ones once a place is free. SIGTERM ends the server.
func TestFlood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := serverArgs(t, "-backup-dir=.", "-backup-every=1s")
	s := process.Serve(t, process.Command(dir, append([]string{"sh", "-c", `ulimit -n 128; exec "$0" "$@"`}, args...)...))
	conn := dial(t, s)
	list := func(key string) { // on the established connection
		t.Helper()
		fmt.Fprintf(conn, "GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", key)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("the response is %s\n%s", resp.Status, s.Tail())
		}
	}
	list(s.Key)

	var idle []net.Conn
	places := int(s.Metric("petstore_max_connections"))
	for range places + 300 {
		idle = append(idle, dial(t, s)) // the system accepts those for which there is no place
	}
	s.Until("all places are taken", func() bool { return int(s.Metric("petstore_connections")) == places })
	taken := time.Now()
	created := strings.TrimSpace(mustRun(t, dir, "keys", "create", "alice"))
	rounds, _ := rounds(3, 50)
	for range rounds {
		time.Sleep(200 * time.Millisecond)
		list(created)
	}
	s.Must(http.StatusOK, "GET", s.Admin+"/readyz", "")
	s.Until("a backup is made", func() bool { return s.Metric("petstore_backup_age_seconds") < time.Since(taken).Seconds() })

	for _, c := range idle {
		c.Close()
	}
	s.Must(http.StatusOK, "GET", "/pets", "")
	for range places + 300 {
		fmt.Fprint(dial(t, s), "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") // or the server would wait for its request
	}
	s.Until("all places are taken again", func() bool { return int(s.Metric("petstore_connections")) == places })
	s.Stop()
}
