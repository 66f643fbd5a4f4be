//go:build linux

package faulttest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// conn is a connection to a server.
type conn struct {
	*net.TCPConn
	in *bufio.Reader
}

func (s *server) tryDial() (conn, error) {
	c, err := net.Dial("tcp", s.Host())
	if err != nil {
		return conn{}, err
	}
	return conn{c.(*net.TCPConn), bufio.NewReader(c)}, c.SetDeadline(time.Now().Add(patience))
}

// dial opens a connection that is closed at the end of the test.
func (s *server) dial() conn {
	s.t.Helper()
	c, err := s.tryDial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

var errCutOff = errors.New("the response was cut off")

// receive returns the next response and its body.
func (c conn) receive() (resp *http.Response, body []byte, err error) {
	if _, err = c.in.Peek(1); err != nil {
		return nil, nil, err
	}
	if resp, err = http.ReadResponse(c.in, nil); err == nil {
		body, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errCutOff, err)
	}
	return resp, body, err
}

// do sends a request, and waits for its response.
func (c conn) do(request string, wait time.Duration) (*http.Response, []byte, error) {
	_ = c.SetDeadline(time.Now().Add(wait))
	if _, err := io.WriteString(c, request); err != nil {
		return nil, nil, err
	}
	return c.receive()
}

// raw returns the text of a request with the key.
func (s *server) raw(method, target, fields, body string) string {
	if body != "" {
		fields += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return fmt.Sprintf("%s /v1%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n%s", method, target, s.Key, fields, body)
}

// load is clients that send requests at the same time, and what they receive.
type load struct {
	s       *server
	run     func(name string)        // what a client does
	request func(name string) string // returns the text of a request
	each    int                      // how many requests a client sends; 0: until end is called
	wait    func() time.Duration     // how long a client waits for a response; nil: patience
	wg      sync.WaitGroup

	mu     sync.Mutex
	ended  bool
	ledger             // of the pets and messages that were acknowledged
	status map[int]int // number of responses, or of calls that succeeded, by status
	unsure []string    // names of requests without a response
	cut    int         // number of responses that began and did not end
}

// write returns the text of the request that stores what a name stands for. The
// name is its Idempotency-Key too.
func (s *server) write(name string) string {
	path, body := write(name)
	return s.raw("POST", path, "Idempotency-Key: "+name+"\r\n", body)
}

// newLoad returns a load of writes that has not started.
func (s *server) newLoad() *load {
	l := &load{s: s, request: s.write, ledger: newLedger(), status: map[int]int{}}
	l.run = l.connect
	return l
}

// newReads returns a load of gets of the first pet that has not started.
func (s *server) newReads() *load {
	l := s.newLoad()
	l.request = func(string) string { return s.raw("GET", "/pets/1", "", "") }
	return l
}

// newMixed returns a load of writes and lists that has not started.
func (s *server) newMixed() *load {
	l := s.newLoad()
	l.request = func(name string) string {
		if isList(name) {
			return s.raw("GET", "/pets?limit=100", "", "")
		}
		return s.write(name)
	}
	return l
}

// isList reports whether a name stands for a list, in loads that have any.
func isList(name string) bool { return strings.HasSuffix(name, "5") }

// start starts n clients. The names of their requests begin with name.
func (l *load) start(n int, name string) {
	for i := range n {
		l.wg.Go(func() { l.run(fmt.Sprintf("%s-%d", name, i)) })
	}
}

// over reports whether a client that has sent n requests sends no more.
func (l *load) over(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended || l.each > 0 && n == l.each
}

// connect sends requests over a connection that it keeps, until the server takes no
// more connections.
func (l *load) connect(name string) {
	for n := 0; ; {
		c, err := l.s.tryDial()
		if err != nil {
			return
		}
		for kept := true; kept; n++ {
			if l.over(n) {
				c.Close()
				return
			}
			kept = l.send(c, fmt.Sprintf("%s-%d", name, n))
		}
		c.Close()
	}
}

// send sends a request. It reports whether the connection is kept.
func (l *load) send(c conn, name string) (kept bool) {
	wait := patience // the machine may be slow
	if l.wait != nil {
		wait = l.wait()
	}
	resp, body, err := c.do(l.request(name), wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.unsure = append(l.unsure, name)
		if errors.Is(err, errCutOff) {
			l.cut++
		}
		return false
	}
	l.status[resp.StatusCode]++
	if resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusAccepted {
		l.acknowledge(body)
	}
	return !resp.Close
}

// good returns how many responses report success.
func (l *load) good() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status[http.StatusOK] + l.status[http.StatusCreated] + l.status[http.StatusAccepted]
}

// untilGood waits until another request has succeeded.
func (l *load) untilGood() {
	l.s.t.Helper()
	before := l.good()
	l.s.Until("a request succeeds", func() bool { return l.good() > before })
}

// end waits until the clients have their responses, and ends them.
func (l *load) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
}

// others returns how many requests have no response, or one with a status that is
// not in statuses.
func (l *load) others(statuses ...int) int {
	n := len(l.unsure)
	others := maps.Clone(l.status)
	for _, status := range statuses {
		delete(others, status)
	}
	for _, count := range others {
		n += count
	}
	return n
}
