//go:build linux

package faulttest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// TestOverload sends requests on far more connections than the server, on one
// core, can serve at once. Each must have a response, which may be 503, and so must
// the request that follows the load.
func TestOverload(t *testing.T) {
	t.Parallel()
	n, _ := rounds(300, 1000)
	milliseconds, _ := rounds(500, 10_000)
	cmd := process.Command(t.TempDir(), serverArgs(t)...)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	s := process.Serve(t, cmd)
	l := newLoad(t, s, nil)
	l.start(n, "many")
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	l.untilGood()
	l.end()
	s.Must(http.StatusOK, "GET", "/pets?limit=1", "")
	if others := l.others(503); others > 0 {
		t.Errorf("%d requests without a response, or with another status: %v", others, l.status)
	}
	most := s.Memory("VmHWM")
	if most > 300 {
		t.Errorf("the server used %.0f MB of memory", most)
	}
	s.Stop()
	check(t, "after the load", database(s), l.History, 0)
	t.Logf("%d connections: responses by status %v; at most %.0f MB of memory", n, l.status, most)
}

// dawdle keeps a slow connection open until stop is closed or the server closes
// the connection.
func dawdle(s *process.Server, kind int, stop <-chan struct{}) {
	request := post(s) + "Content-Length: 1000000\r\n\r\n"
	first, slow := "", request // a header, a byte a second
	switch kind {
	case 1:
		first, slow = request, `{"name":"` // a body, a byte a second
	case 2:
		// Responses that are never read. 40 are more than the system's buffers hold.
		list := "GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.Key + "\r\n\r\n"
		first, slow = strings.Repeat(list, 40), list
	}
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		return // the server has stopped
	}
	defer conn.Close()
	// The server, not the system, is to hold the unread responses.
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, err = io.WriteString(conn, first)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := 0; err == nil; i = (i + 1) % len(slow) {
		select {
		case <-stop:
			return
		case <-second.C:
			_, err = conn.Write([]byte{slow[i]})
		}
	}
}

// TestSlowClients holds many connections open that do next to nothing. Other
// clients must be served, at a bounded cost of memory. In the long form the server
// must close all of the slow connections.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	slow, _ := rounds(200, 2000)
	s := start(t, t.TempDir())
	for i := range 100 {
		s.Must(http.StatusCreated, "POST", "/pets", fmt.Sprintf(`{"name":"pet %d%s","categoryId":1}`, i, strings.Repeat(" long", 400)))
	}
	before := s.Memory("VmRSS")
	stop := make(chan struct{})
	defer close(stop)
	for i := range slow {
		go dawdle(s, i%3, stop)
	}
	connections := func() int { return int(s.Metric("petstore_connections")) }
	s.Until("the server has the slow connections", func() bool { return connections() >= slow/2 })
	l := newLoad(t, s, nil)
	l.start(8, "other")
	time.Sleep(time.Second) // until the system's buffers are full of responses
	if *full {
		s.Until("the slow connections are closed", func() bool { return connections() < 20 })
	}
	l.end()
	if n := l.others(); n > 0 || l.good() == 0 {
		t.Errorf("%d requests of other clients failed: %v", n, l.status)
	}
	const each, garbage = 0.25, 64 // MB: for each connection, and for garbage that is not collected yet
	most := s.Memory("VmHWM")
	if most-before > float64(slow)*each+garbage {
		t.Errorf("%d slow connections cost %.0f MB of memory", slow, most-before)
	}
	t.Logf("%d slow connections: %d other requests, at most %.0f MB of memory, %.0f MB before", slow, l.good(), most, before)
}
