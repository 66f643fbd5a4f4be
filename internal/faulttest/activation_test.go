//go:build linux

package faulttest

import (
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// TestSocketActivation passes a socket to one server after the other, as systemd
// does, and stops each while callers use petstore/client. No connection may be
// refused, and no caller may see an error. A request that is sent while no server
// runs gets its response from the next one.
func TestSocketActivation(t *testing.T) {
	parallel(t)
	n, random := rounds(3, 50)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := ln.(*net.TCPListener).File()
	ln.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	dir := t.TempDir()
	activate := func() *server {
		cmd := process.Command(dir, serverArgs(t, []string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`})...)
		cmd.Env = append(cmd.Env, "LISTEN_FDS=1", "PETSTORE_DRAIN=2m") // the machine may be busy
		cmd.ExtraFiles = []*os.File{socket}
		return &server{process.Serve(t, cmd), t}
	}
	s := activate()
	if want := ln.Addr().String(); s.Host() != want {
		t.Fatalf("the server serves on %s, not on the socket, %s", s.Host(), want)
	}
	l := s.newCalls(s.URL, true)
	l.start(16, "c")
	for range n {
		l.untilGood()
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		s.Stop()
		c := s.dial()
		response := make(chan error, 1)
		go func() {
			resp, _, err := c.do(s.raw("GET", "/pets", "", ""), patience)
			if err == nil && resp.StatusCode != http.StatusOK {
				t.Errorf("a request that was sent while no server ran: %s", resp.Status)
			}
			response <- err
		}()
		s = activate()
		l.s = s
		if err := <-response; err != nil {
			t.Errorf("a request that was sent while no server ran: %v", err)
		}
	}
	l.untilGood()
	l.end()
	if refused := l.again.refused.Load(); refused > 0 {
		t.Errorf("%d connections refused", refused)
	}
	report(t, "%d restarts, 0 connections refused, %s", n, l.checkCalls(nil))
}
