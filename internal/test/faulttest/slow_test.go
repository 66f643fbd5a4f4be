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

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

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

// TestOverload holds many connections open that do next to nothing, while far more clients
// than the server, on one core, can serve at once send requests. Each request must have a
// response, which may be 503, at a bounded cost of memory, and so must the request that
// follows the load. In the long form the server must close all of the slow connections.
func TestOverload(t *testing.T) {
	t.Parallel()
	slow, _ := rounds(200, 2000)
	clients, _ := rounds(300, 1000)
	cmd := process.Command(t.TempDir(), serverArgs(t)...)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	s := process.Serve(t, cmd)
	l := newLoad(t, s, nil)
	for i := range 100 {
		_ = l.send(l.client, history.Request{Create: fmt.Sprint(i, strings.Repeat(" long", 400))}) // counted in others
	}
	before := s.Memory("VmRSS")
	l.start(clients, "many")
	l.untilGood()
	stop := make(chan struct{})
	defer close(stop)
	for i := range slow {
		go dawdle(s, i%3, stop)
	}
	connections := func() int { return int(s.Metric("petstore_connections")) }
	s.Until("the server has the slow connections", func() bool { return connections() >= clients+slow/2 })
	time.Sleep(time.Second) // until the system's buffers are full of responses
	if *full {
		s.Until("the slow connections are closed", func() bool { return connections() < clients+20 })
	}
	l.untilGood()
	l.end()
	s.Must(http.StatusOK, "GET", "/pets?limit=1", "")
	if others := l.others(503); others > 0 {
		t.Errorf("%d requests without a response, or with another status: %v", others, l.status)
	}
	const each, garbage = 0.25, 64 // MB: for each connection, and for garbage that is not collected yet
	most := s.Memory("VmHWM")
	if most-before > float64(slow+clients)*each+garbage {
		t.Errorf("%d slow connections and %d others cost %.0f MB of memory", slow, clients, most-before)
	}
	s.Kill() // some requests are slow
	check(t, "after the load", database(s), l.History, 0)
	t.Logf("%d slow connections; responses to %d others by status %v; at most %.0f MB of memory, %.0f MB before", slow, clients, l.status, most, before)
}
