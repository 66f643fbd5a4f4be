package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// client keeps a connection and creates pets over it, each with an
// Idempotency-Key of its own, until the server is gone.
type client struct {
	host, key string
	name      string
	answers   map[string]string // by Idempotency-Key
	unsure    string            // the key of a request that was sent and not answered; "": none
	cut       bool              // an answer began and did not end
}

func (c *client) run() {
	for n := 0; ; {
		conn, err := net.Dial("tcp", c.host)
		if err != nil {
			return // it takes no more
		}
		br := bufio.NewReader(conn)
		for stay := true; stay; n++ {
			once := fmt.Sprintf("%s-%d", c.name, n)
			var got bool
			if got, stay = c.create(conn, br, once); !got {
				conn.Close()
				return
			}
		}
		conn.Close()
	}
}

// create sends one request. It reports whether it was answered, and whether
// the connection stays.
func (c *client) create(conn net.Conn, br *bufio.Reader, once string) (got, stay bool) {
	body := fmt.Sprintf(`{"name":%q,"categoryId":1}`, once)
	defer func() {
		if !got {
			c.unsure = once
		}
	}()
	_, err := fmt.Fprintf(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", c.key, once, len(body), body)
	if err != nil {
		return false, false
	}
	if _, err := br.Peek(1); err != nil {
		return false, false
	}
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		c.cut = true
		return false, false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.cut = true
		return false, false
	}
	if resp.StatusCode == http.StatusCreated {
		c.answers[once] = string(b)
	}
	return true, !resp.Close
}

// patient has the server wait for requests even on a busy machine.
const patient = "-drain=2m"

// What was accepted is answered, what was answered is on disk, and a client
// that repeats what it is unsure of makes nothing twice.
func TestDrainUnderLoad(t *testing.T) {
	s := start(t, t.TempDir(), patient)
	key := s.key
	clients := newClients(s)
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(c.run)
	}
	time.Sleep(300 * time.Millisecond)
	s.stop()
	wg.Wait()
	audit(t, s.dir, key, clients)
}

// The same holds for clients whose first request comes late, about when the
// server closes the connections that have brought none.
func TestDrainWithLateRequests(t *testing.T) {
	s := start(t, t.TempDir(), patient)
	clients := newClients(s)
	conns := make([]net.Conn, len(clients))
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", s.host()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			time.Sleep(900*time.Millisecond + time.Duration(i)*3*time.Millisecond)
			c.create(conns[i], bufio.NewReader(conns[i]), c.name)
		})
	}
	wg.Wait()
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	audit(t, s.dir, s.key, clients)
}

func newClients(s *server) []*client {
	clients := make([]*client, 64)
	for i := range clients {
		clients[i] = &client{host: s.host(), key: s.key, name: fmt.Sprint("c", i), answers: map[string]string{}}
	}
	return clients
}

// audit holds what is on disk against what the clients were told.
func audit(t *testing.T, dir, key string, clients []*client) {
	t.Helper()
	s := start(t, dir)
	last := idOf(t, s.create(key, "after the restart"))
	owner := map[int64]string{} // of each id, by Idempotency-Key
	unsure := 0
	for _, c := range clients {
		if c.cut {
			t.Errorf("%s: an answer was cut short", c.name)
		}
		for once, body := range c.answers {
			id := idOf(t, body)
			if other, ok := owner[id]; ok || id >= last {
				t.Errorf("%s: id %d, which is also %q's, or not on disk (the last there is %d)", once, id, other, last)
			}
			owner[id] = once
		}
		if c.unsure == "" {
			continue
		}
		unsure++
		if id := idOf(t, s.create(key, c.unsure, "Idempotency-Key", c.unsure)); id < last {
			t.Errorf("%s was carried out and not answered", c.unsure)
		}
	}
	if int64(len(owner)) != last-1 {
		t.Errorf("%d pets were answered, and %d are on disk", len(owner), last-1)
	}
	t.Logf("%d requests answered, %d refused by the closing address", len(owner), unsure)
}

// halfSent is a request whose body is still to come.
type halfSent struct {
	t    *testing.T
	conn net.Conn
	rest string
}

func sendHalf(s *server) *halfSent {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.host())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	body := `{"name":"slow","categoryId":1}`
	fmt.Fprintf(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", s.key, len(body))
	// The server asks for the body: it has the request.
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		s.t.Fatalf("answer to the header: %q, %v", line, err)
	}
	return &halfSent{s.t, conn, body}
}

// finish sends the rest and returns the answer.
func (h *halfSent) finish() *http.Response {
	h.t.Helper()
	io.WriteString(h.conn, h.rest)
	resp, err := http.ReadResponse(bufio.NewReader(h.conn), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

func TestDrainWaitsForRequests(t *testing.T) {
	s := start(t, t.TempDir(), patient)
	slow := sendHalf(s)
	if got := s.health("/readyz"); got != http.StatusOK {
		t.Errorf("/readyz: %d before the signal", got)
	}
	s.Signal(syscall.SIGTERM)
	s.until("the address is closed", func() bool { return s.health("/healthz") == 0 })
	if resp := slow.finish(); resp.StatusCode != http.StatusCreated || !resp.Close {
		t.Errorf("the request in flight was answered with %s, Connection: close %v", resp.Status, resp.Close)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Before the address closes, /readyz says so for a second. A busy machine may
// miss that, but not every time.
func TestDrainTurnsAway(t *testing.T) {
	for range 5 {
		s := start(t, t.TempDir())
		sendHalf(s)
		s.Signal(syscall.SIGTERM)
		ready, alive := http.StatusOK, 0
		s.until("/readyz changes", func() bool {
			ready, alive = s.health("/readyz"), s.health("/healthz")
			return ready != http.StatusOK
		})
		s.Kill()
		if ready == http.StatusServiceUnavailable && alive == http.StatusOK {
			return
		}
		t.Logf("/readyz: %d, /healthz: %d", ready, alive)
	}
	t.Error("/readyz does not say that the server stops, while it is alive")
}

// health returns the status of an answer; 0: there is none.
func (s *server) health(path string) int {
	r, err := send(oneShot, "GET", "http://"+s.host()+path, "", "")
	if err != nil {
		return 0
	}
	return r.status
}

func TestDrainEnds(t *testing.T) {
	s := start(t, t.TempDir(), "-drain=100ms")
	sendHalf(s)
	if code := s.signal(os.Interrupt); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := s.Stderr.String(); !strings.Contains(log, "1 connections cut") {
		t.Errorf("the log does not tell of the cut connection:\n%s", log)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	s := start(t, t.TempDir(), "-drain=1h")
	sendHalf(s)
	s.Signal(syscall.SIGTERM)
	s.until("the server stops", func() bool { return strings.Contains(s.Stderr.String(), "msg=stopping") })
	if code := s.signal(syscall.SIGTERM); code != 1 {
		t.Errorf("exit code %d", code)
	}
}
