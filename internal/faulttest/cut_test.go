//go:build linux

package faulttest

import (
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore/client"
)

// TestClientCuts cuts every connection of petstore/client at a random moment. If
// the server honours Idempotency-Key, no caller may see an error. If it does not
// know that field, an error must say that the outcome is unknown.
func TestClientCuts(t *testing.T) {
	parallel(t)
	for name, failure := range map[string]error{"idempotent server": nil, "server without idempotency": client.ErrUnknownOutcome} {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			n, random := rounds(100, 1000)
			s := start(t, t.TempDir())
			p := s.newCutter(random, failure != nil)
			l := s.newCalls(p.url)
			l.start(16, "c")
			for i := range n {
				s.Until("a connection is cut", func() bool { return p.cuts[i%3].Load() > int64(i/3) })
			}
			l.end()
			report(t, "%d connections cut in a request, %d before or in a response, %d after a time; %s",
				p.cuts[0].Load(), p.cuts[1].Load(), p.cuts[2].Load(), l.checkCalls(failure))
		})
	}
}

// cutter is a proxy that cuts every connection at a random moment.
type cutter struct {
	url    string
	s      *server
	rename bool            // Idempotency-Key and Accept-Idempotency-Key have other names
	cuts   [3]atomic.Int64 // by kind: see serve
}

// newCutter starts a proxy that ends with the test.
func (s *server) newCutter(random *rand.Rand, rename bool) *cutter {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	p := &cutter{url: "http://" + l.Addr().String() + "/v1", s: s, rename: rename}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// Half of the limits are below 256.
			go p.serve(c.(*net.TCPConn), random.IntN(3), random.Int64N(1<<random.IntN(17)), random.IntN(2) == 0)
		}
	}()
	return p
}

// serve copies requests and responses until one side closes the connection. It
// cuts the connection after limit bytes of requests (kind 0), when the server
// responds with more than limit bytes (1), or after limit times 10 microseconds (2).
func (p *cutter) serve(client *net.TCPConn, kind int, limit int64, reset bool) {
	defer client.Close()
	server, err := p.s.tryDial()
	if err != nil {
		return
	}
	defer server.Close()
	limits := [3]int64{1 << 40, 1 << 40, 1 << 40} // never
	limits[kind] = limit
	ended := make(chan error, 2)
	go func() {
		_, err := io.CopyN(server, p.read(client), limits[0])
		ended <- err
	}()
	go func() {
		_, err := io.CopyN(client, p.read(server), limits[1])
		if err == nil {
			_, err = server.Read(make([]byte, 1))
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			return
		}
	case <-time.After(time.Duration(limits[2]) * 10 * time.Microsecond):
	}
	if reset {
		_, _ = client.SetLinger(0), server.SetLinger(0)
	}
	p.cuts[kind].Add(1)
}

var keyField = regexp.MustCompile("(?i)idempotency-key")

// read returns r as the other side receives it.
func (p *cutter) read(r io.Reader) io.Reader {
	if p.rename {
		return renamed{r}
	}
	return r
}

// renamed changes the names of the two fields. It relies on headers that are sent in one
// piece.
type renamed struct{ io.Reader }

func (r renamed) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	copy(b, keyField.ReplaceAll(b[:n], []byte("X-Unknown-Field")))
	return n, err
}
