//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// throughput returns how many requests a second of eight clients succeed.
func throughput(s *server, d time.Duration) float64 {
	s.t.Helper()
	l := s.newLoad()
	l.request = func(string) string { return s.raw("GET", "/pets/1", "", "") }
	rate, _ := l.rates(8, d, "other")
	if n := l.others(200); n > 0 {
		s.t.Errorf("%d requests of other clients failed: %v", n, l.status)
	}
	return rate
}

// dawdle keeps a slow connection open until stop is closed. When the server
// closes the connection, dawdle opens another one.
func dawdle(s *server, kind int, stop <-chan struct{}) {
	request := s.raw("POST", "/pets", "Content-Type: application/json\r\nContent-Length: 1000000\r\n", "")
	first, slow := "", request // a header, a byte a second
	switch kind {
	case 1:
		first, slow = request, `{"name":"` // a body, a byte a second
	case 2:
		// Responses that are never read. 40 are more than the system's buffers hold.
		list := s.raw("GET", "/pets?limit=100", "", "")
		first, slow = strings.Repeat(list, 40), list
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		conn, err := s.tryDial()
		if err != nil {
			return // the server has stopped
		}
		// The server, not the system, is to hold the unread responses.
		_ = conn.SetReadBuffer(4 << 10)
		_, err = io.WriteString(conn, first)
		for i := 0; err == nil; i = (i + 1) % len(slow) {
			select {
			case <-stop:
				conn.Close()
				return
			case <-second.C:
				_, err = conn.Write([]byte{slow[i]})
			}
		}
		conn.Close()
	}
}

// TestSlowClients holds many connections open that do next to nothing. Other
// clients must be served, at a bounded cost of memory.
func TestSlowClients(t *testing.T) {
	parallel(t)
	slow, _ := rounds(200, 2000)
	allowFiles(t, 10_000)
	s := start(t, t.TempDir())
	for i := range 100 {
		s.create(fmt.Sprint("pet ", i, strings.Repeat(" long", 400)))
	}
	d, settle := 500*time.Millisecond, 200*time.Millisecond
	if *full {
		d, settle = 10*time.Second, 2*time.Second
	}
	throughput(s, settle)
	before, files, memory := throughput(s, d), s.descriptors(), s.Memory("VmRSS")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range slow {
		go dawdle(s, i%3, ctx.Done())
	}
	s.Until("the server has the slow connections", func() bool { return int(s.Metric("petstore_connections")) >= slow/2 })
	throughput(s, settle) // until the system's buffers are full of responses
	during, most := throughput(s, d), s.Memory("VmRSS")
	held := int(s.Metric("petstore_connections"))
	stop()
	s.Until("the descriptors are returned", func() bool { return s.descriptors() <= files+8 })
	const each, garbage = 0.25, 64 // MB: for each connection, and for garbage that is not collected yet
	if most-memory > float64(slow)*each+garbage {
		t.Errorf("%d slow connections cost %.0f MB of memory", slow, most-memory)
	}
	if *idle && during < 0.8*before {
		t.Errorf("other clients have %.2f of their throughput", during/before)
	}
	s.Stop()
	report(t, "%d slow connections, %d held at the end: %.0f requests a second, %.0f without them; memory %.0f MB, %.0f MB without them",
		slow, held, during, before, most, memory)
}

// TestDescriptorsUsedUp opens more connections than the server has descriptors.
// A client with a connection must be served, and a key revoked meanwhile must
// be refused.
func TestDescriptorsUsedUp(t *testing.T) {
	parallel(t)
	allowFiles(t, 10_000)
	s := start(t, t.TempDir(), "prlimit", "--nofile=100:100")
	s.create("Rex")
	kept := s.dial()
	revoked := s.Key
	get := func(key string) (status int) {
		s.Key = key
		resp, _, err := kept.do(s.raw("GET", "/pets/1", "", ""), patience)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if status := get(revoked); status != http.StatusOK {
		t.Fatalf("the client with a connection: %d", status)
	}
	keyFile := "-keys=" + s.Path("petstore.keys")
	list := strings.Fields(mustRun(t, "keys", "list", keyFile)) // four words in the header line, and then the key's ID
	key := strings.TrimSpace(mustRun(t, "keys", "create", keyFile, "bob"))
	s.Until("the new key works", func() bool { return get(key) == http.StatusOK })

	var conns []conn
	for range 150 { // the system accepts those that the server does not
		conn := s.dial()
		conns = append(conns, conn)
		// A connection without a request would be closed sooner.
		if _, err := io.WriteString(conn, "GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.Until("the server has reached its limit of connections", func() bool { return s.descriptors() >= 50 })
	began := time.Now()
	mustRun(t, "keys", "revoke", keyFile, list[4])
	s.Until("the key is revoked", func() bool { return get(revoked) == http.StatusUnauthorized })
	took, used := time.Since(began), s.descriptors()
	if status := get(key); status != http.StatusOK {
		t.Errorf("the client with a connection, after the other key is revoked: %d", status)
	}
	for _, conn := range conns {
		conn.Close()
	}
	s.create("Mia")
	s.Until("the descriptors are returned", func() bool { return s.descriptors() < 20 })
	kept.Close()
	s.Stop()
	if log := s.Log(); strings.Contains(log, "too many open files") {
		t.Errorf("the server ran out of descriptors:\n%s", log)
	}
	report(t, "%d connections at 100 descriptors, %d in use; a key revoked after %v", len(conns), used, took.Round(time.Millisecond))
}
