//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// throughput is how many requests a second eight clients get answered.
func throughput(t *testing.T, s *server, d time.Duration) float64 {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range 8 {
		wg.Go(func() {
			for time.Now().Before(end) {
				a, err := s.send(client, "GET", "/pets/1", "")
				if err != nil || a.status != http.StatusOK {
					t.Errorf("a served client: %d, %v", a.status, err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / d.Seconds()
}

// sluggish is a client that holds a connection: it sends what it sends a byte
// at a time, or asks for answers that it never reads.
func sluggish(s *server, kind int, stop <-chan struct{}) error {
	conn, err := net.Dial("tcp", s.host)
	if err != nil {
		return err
	}
	// What an unread answer takes up is to be the server's, not the system's.
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return err
	}
	head := "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
	go func() {
		defer conn.Close()
		switch kind % 3 {
		case 1: // the header at once, the body a byte at a time
			_, _ = io.WriteString(conn, head)
			head = `{"name":"`
		case 2: // one request after the other, with no answer read
			ask := fmt.Sprintf("GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", s.key)
			go func() { // 40 answers are more than the system's buffers take
				_, _ = io.WriteString(conn, strings.Repeat(ask, 40))
			}()
			<-stop
			return
		}
		for i := 0; ; i = (i + 1) % len(head) {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
				if _, err := conn.Write([]byte{head[i]}); err != nil {
					<-stop
					return
				}
			}
		}
	}()
	return nil
}

// raiseLimit lets this process, and those that it starts, have many files.
func raiseLimit(t *testing.T, n uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: n, Max: n}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if old.Cur >= n {
		return
	}
	if limit.Max < old.Max {
		limit.Max = old.Max
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		lacking(t, fmt.Sprint("more open files: ", err))
	}
}

// TestSlowClients holds many connections open that do next to nothing, beside
// clients that want to be served.
func TestSlowClients(t *testing.T) {
	slow, _ := times(t, 200, 2000)
	raiseLimit(t, 10_000)
	s := start(t, t.TempDir())
	for i := range 100 {
		s.must(http.StatusCreated, "POST", "/pets", petBody(fmt.Sprint("pet ", i, strings.Repeat(" long", 400))))
	}
	d, settle := 500*time.Millisecond, 200*time.Millisecond
	if *full {
		d, settle = 10*time.Second, 2*time.Second
	}
	throughput(t, s, settle) // warm
	before, files, memory := throughput(t, s, d), s.descriptors(), s.status("VmRSS")
	stop := make(chan struct{})
	for i := range slow {
		if err := sluggish(s, i, stop); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the slow connections are there", func() bool { return s.vars().Connections >= slow/2 })
	throughput(t, s, settle) // until no more answers fit into the system's buffers
	during, most := throughput(t, s, d), s.status("VmRSS")
	held := s.vars().Connections
	close(stop)
	s.until("the descriptors are returned", func() bool { return s.descriptors() <= files+8 })
	t.Logf("%d slow connections (%d held at the end): %.0f answers a second, %.0f without them (%.2f); memory %d MB, %d MB without them",
		slow, held, during, before, during/before, most>>10, memory>>10)
	const garbage = 64 << 10 // kB that the server has between two collections, however few the connections
	if most-memory > slow*256+garbage {
		t.Errorf("a slow connection costs %d kB", (most-memory)/slow)
	}
	if *full && during < 0.8*before {
		t.Errorf("served clients have %.2f of their throughput", during/before)
	}
	if during == 0 {
		t.Error("nobody is served")
	}
	s.stop()
}

// TestDescriptorsUsedUp limits the descriptors of a server, and opens more
// connections than that, without a key.
func TestDescriptorsUsedUp(t *testing.T) {
	raiseLimit(t, 10_000)
	s := start(t, t.TempDir(), "prlimit", "--nofile=100:100")
	s.must(http.StatusCreated, "POST", "/pets", petBody("Rex"))
	kept, err := net.Dial("tcp", s.host) // a client that is there already
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	revoked := s.key
	get := func(conn net.Conn, key string) (status int) {
		_ = conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "GET /v1/pets/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", key)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if status := get(kept, revoked); status != http.StatusOK {
		t.Fatalf("the first client: %d", status)
	}
	keyFile := "-keys=" + filepath.Join(s.dir, "petstore.keys")
	list, err := command(t, "keys", "list", keyFile) // four words in the header line, and then the key's ID
	if err != nil {
		t.Fatal(err)
	}
	created, err := command(t, "keys", "create", keyFile, "bob")
	if err != nil {
		t.Fatal(err)
	}
	s.key = strings.TrimSpace(string(created))
	s.until("the new key works", func() bool { return get(kept, s.key) == http.StatusOK })

	var conns []net.Conn
	for range 150 { // the system accepts those that the server does not
		conn, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		// Send a request: a connection without one is closed sooner.
		if _, err := io.WriteString(conn, "GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the server has reached its limit of connections", func() bool { return s.descriptors() >= 50 })
	began := time.Now()
	if _, err := command(t, "keys", "revoke", keyFile, strings.Fields(string(list))[4]); err != nil {
		t.Fatal(err)
	}
	s.until("the key is revoked", func() bool { return get(kept, revoked) == http.StatusUnauthorized })
	t.Logf("revoked after %v, with %d descriptors in use", time.Since(began).Round(time.Millisecond), s.descriptors())
	if status := get(kept, s.key); status != http.StatusOK {
		t.Errorf("a connected client: %d", status)
	}
	for _, conn := range conns {
		conn.Close()
	}
	s.must(http.StatusCreated, "POST", "/pets", petBody("Mia"))
	s.until("the descriptors are returned", func() bool { return s.descriptors() < 20 })
	s.stop()
	if log := s.Stderr.String(); strings.Contains(log, "too many open files") {
		t.Errorf("the server ran out of descriptors:\n%s", log)
	}
}

// oneShot keeps no connections.
var oneShot = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
