//go:build linux

package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// calls is a load of calls of petstore/client, none of which may fail.
type calls struct {
	*load
	client *client.Client
}

// newCalls returns calls that have not started. The client sends its requests to
// url, and repeats them until the deadline of the call.
func (s *server) newCalls(url string) *calls {
	s.t.Helper()
	c, err := client.New(url, s.Key, &client.Options{
		HTTPClient:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}, Timeout: 30 * time.Second},
		RetryWrites: true,
		MaxAttempts: math.MaxInt,
		MinBackoff:  10 * time.Millisecond,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	l := &calls{s.newLoad(), c}
	l.run = func(name string) {
		for n := 0; !l.over(n); n++ {
			l.call(fmt.Sprintf("%s-%d", name, n))
		}
	}
	return l
}

// call makes the call for a name: it lists pets if isList says so, and otherwise stores
// the pet or message that write returns for the name.
func (l *calls) call(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	status := http.StatusCreated
	var result any
	var err error
	switch path, _ := write(name); {
	case isList(name):
		status = http.StatusOK
		_, err = l.client.ListPets(ctx, petstore.ListQuery{Limit: 5})
	case path == "/pets":
		result, err = l.client.CreatePet(ctx, pet(name), petstore.IdempotencyKey{})
	default:
		result, err = l.client.SubmitMessage(ctx, name, petstore.IdempotencyKey{})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.s.t.Errorf("%s: %v", name, err)
		l.ended = true
		return
	}
	l.status[status]++
	if status == http.StatusCreated {
		body, _ := json.Marshal(result) // of a pet or message
		l.acknowledge(body)
	}
}

// finish ends the calls, stops the server and checks its store.
func (l *calls) finish() {
	t := l.s.t
	t.Helper()
	l.end()
	l.s.Stop()
	if extra, _ := l.check(t, "after the calls", l.s.db()); len(extra) > 0 {
		t.Errorf("%q are in the store, but were not acknowledged", extra)
	}
	t.Logf("%d calls, %d creations acknowledged", l.good(), len(l.names))
}

// TestClientRestarts kills and stops the server at random moments, and starts it
// again at the same address, while callers use petstore/client. No caller may see
// an error.
func TestClientRestarts(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir, drain := t.TempDir(), "-drain=2m" // the machine may be busy
	// A port of 127.0.0.2 is taken by nothing else while the server is stopped.
	s := startWith(t, dir, drain, "-addr=127.0.0.2:0")
	l := s.newCalls(s.URL)
	l.start(16, "c")
	for round := range n {
		l.untilGood()
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		if round%2 == 0 {
			s.Kill()
		} else {
			s.Stop()
		}
		s = startWith(t, dir, drain, "-addr="+s.Host())
		l.s = s
	}
	l.untilGood()
	l.finish()
}

// TestClientCuts cuts every connection of petstore/client at a random moment. No
// caller may see an error.
func TestClientCuts(t *testing.T) {
	t.Parallel()
	n, random := rounds(50, 1000)
	s := start(t, t.TempDir())
	p := s.newCutter(random)
	l := s.newCalls(p.url)
	l.start(16, "c")
	for i := range n {
		s.Until("a connection is cut", func() bool { return p.cuts[i%2].Load() > int64(i/2) })
	}
	l.finish()
	t.Logf("%d connections cut in a request, %d before or in a response", p.cuts[0].Load(), p.cuts[1].Load())
}

// cutter is a proxy that cuts every connection at a random moment.
type cutter struct {
	url  string
	s    *server
	cuts [2]atomic.Int64 // by kind: see serve
}

// newCutter starts a proxy that ends with the test.
func (s *server) newCutter(random *rand.Rand) *cutter {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	p := &cutter{url: "http://" + l.Addr().String() + "/v1", s: s}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// Half of the limits are below 256.
			go p.serve(c.(*net.TCPConn), random.IntN(2), random.Int64N(1<<random.IntN(17)), random.IntN(2) == 0)
		}
	}()
	return p
}

// serve copies requests and responses until one side closes the connection. It
// cuts the connection after limit bytes of requests (kind 0), or when the server
// responds with more than limit bytes (1).
func (p *cutter) serve(client *net.TCPConn, kind int, limit int64, reset bool) {
	defer client.Close()
	server, err := p.s.tryDial()
	if err != nil {
		return
	}
	defer server.Close()
	limits := [2]int64{1 << 40, 1 << 40} // never
	limits[kind] = limit
	ended := make(chan error, 2)
	go func() {
		_, err := io.CopyN(server, client, limits[0])
		ended <- err
	}()
	go func() {
		_, err := io.CopyN(client, server, limits[1])
		if err == nil {
			_, err = server.Read(make([]byte, 1))
		}
		ended <- err
	}()
	if err := <-ended; err != nil {
		return
	}
	if reset {
		_, _ = client.SetLinger(0), server.SetLinger(0)
	}
	p.cuts[kind].Add(1)
}
