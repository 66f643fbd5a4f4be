//go:build linux

package faulttest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// callers call petstore/client at the same time, until one of their calls fails.
type callers struct {
	t      *testing.T
	client *client.Client
	wg     sync.WaitGroup

	mu    sync.Mutex
	ended bool
	calls int            // that succeeded
	pets  []petstore.Pet // that the calls have created
}

// startCalls starts callers of the server of that URL and API key. The client repeats each
// request until the deadline of the call.
func startCalls(t *testing.T, url, key string) *callers {
	t.Helper()
	c, err := client.New(url, key, &client.Options{RetryWrites: true, MaxAttempts: math.MaxInt, MinBackoff: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l := &callers{t: t, client: c}
	for i := range 16 {
		l.wg.Go(func() {
			for n := 0; l.call(fmt.Sprintf("%d-%d", i, n), n%4 == 0); n++ {
			}
		})
	}
	return l
}

// call lists pets or creates one with that name. It reports whether the caller goes on.
func (l *callers) call(name string, list bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	var pets []petstore.Pet
	var err error
	if list {
		_, err = l.client.ListPets(ctx, petstore.ListQuery{Limit: 5})
	} else {
		pets = make([]petstore.Pet, 1)
		pets[0], err = l.client.CreatePet(ctx, petstore.NewPet{Name: name}, petstore.IdempotencyKey{})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.t.Errorf("%s: %v", name, err)
		return false
	}
	l.calls++
	l.pets = append(l.pets, pets...)
	return !l.ended
}

// count returns how many calls have succeeded.
func (l *callers) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// finish ends the callers. The server must have the pets that they have created, and no
// others.
func (l *callers) finish() {
	l.t.Helper()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
	stored, err := history.Pets(l.t.Context(), l.client)
	slices.SortFunc(l.pets, func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil || !slices.Equal(stored, l.pets) {
		l.t.Errorf("%d pets are stored, which are not the %d that the calls have created; %v", len(stored), len(l.pets), err)
	}
	l.t.Logf("%d calls, %d pets created", l.calls, len(l.pets))
}

// TestClientRestarts kills and stops the server at random moments, and starts it
// again at the same address, while callers use petstore/client. No caller may see
// an error.
func TestClientRestarts(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir, drain := t.TempDir(), "-drain=2m" // the machine may be busy
	// A port of 127.0.0.2 is taken by nothing else while the server is stopped.
	s := start(t, dir, drain, "-addr=127.0.0.2:0")
	l := startCalls(t, s.URL, s.Key)
	untilCalls := func() {
		before := l.count()
		s.Until("a call succeeds", func() bool { return l.count() > before })
	}
	for round := range n {
		untilCalls()
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		if round%2 == 0 {
			s.Kill()
		} else {
			s.Stop()
		}
		s = start(t, dir, drain, "-addr="+s.Host())
	}
	untilCalls()
	l.finish()
}

// TestClientCuts cuts every connection of petstore/client at a random moment. No
// caller may see an error.
func TestClientCuts(t *testing.T) {
	t.Parallel()
	n, random := rounds(50, 1000)
	s := start(t, t.TempDir())
	p := newCutter(t, s, random)
	l := startCalls(t, p.url, s.Key)
	for i := range n {
		s.Until("a connection is cut", func() bool { return p.cuts[i%2].Load() > int64(i/2) })
	}
	l.finish()
	t.Logf("%d connections cut in a request, %d before or in a response", p.cuts[0].Load(), p.cuts[1].Load())
}

// cutter is a proxy that cuts every connection at a random moment.
type cutter struct {
	url  string
	s    *process.Server
	cuts [2]atomic.Int64 // by kind: see serve
}

// newCutter starts a proxy that ends with the test.
func newCutter(t *testing.T, s *process.Server, random *rand.Rand) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
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
	server, err := tryDial(p.s)
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
