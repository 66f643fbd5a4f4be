//go:build linux

package postgrestest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore/client"
)

// server is a server of the petstore, on a machine of its own.
type server struct {
	machine
	api *process.Server // as it was first started; its addresses stay
}

// newServer starts the i-th server. The i-th node is the first one that it tries. All
// servers have the same API key, which the first one makes.
func (c *cluster) newServer(t *testing.T, i int) *server {
	t.Helper()
	s := &server{machine: machine{name: fmt.Sprint("server", i+1), dir: fmt.Sprint(c.dir, "/server", i+1)}}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{process.Build(t, "../../../cmd/refserver-postgres"), "-addr=" + process.FreeAddress(), "-admin-addr=" + process.FreeAddress(),
		"-postgres=" + c.url(i), "-keys=" + c.dir + "/keys"}
	s.start = func() (*process.Process, error) { // with the same addresses each time
		started, err := process.TryServe(t, process.Command(s.dir, args...))
		if s.api == nil {
			s.api = started
		}
		return started.Process, err
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if len(c.servers) > 0 {
		s.api.Key = c.servers[0].api.Key
	}
	s.api.Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}, Timeout: process.Patience}
	return s
}

const clients = 16

// load is clients that create, get and list pets through both servers, and record what
// they see. The store has no other clients.
type load struct {
	*history.History
	creationsOnly atomic.Bool // the clients do not read
	stop          func()      // returns when the clients have stopped

	mu    sync.Mutex
	last  time.Time     // of an acknowledgement
	stall time.Duration // the longest time between two acknowledgements since stalled was called
}

func startLoad(c *cluster) *load {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	l := &load{History: history.New(), last: time.Now(), stop: func() { cancel(); wg.Wait() }}
	servers := []*process.Server{c.servers[0].api, c.servers[1].api}
	for i := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := 0; ctx.Err() == nil; n++ {
				time.Sleep(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
				req := l.Choose(r, fmt.Sprintf("%d-%d", i, n))
				if req.Create == "" && l.creationsOnly.Load() {
					continue
				}
				s := servers[r.IntN(len(servers))]
				if status, _ := l.Do(context.Background(), s.Client, s.URL, s.Key, req); status == http.StatusCreated {
					l.mu.Lock()
					l.stall, l.last = max(l.stall, time.Since(l.last)), time.Now()
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

// progress waits until more creations are acknowledged.
func (l *load) progress(t *testing.T) {
	t.Helper()
	before := l.Acknowledged()
	process.Eventually(t, "acknowledgements", func() error {
		if n := l.Acknowledged(); n < before+5*clients {
			return fmt.Errorf("%d pets acknowledged, %d before", n, before)
		}
		return nil
	})
}

// stalled returns the longest time without an acknowledgement since it was called last.
func (l *load) stalled() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	stall := l.stall
	l.stall = 0
	return stall
}

// finish ends the load. The history of all its requests must be linearizable.
func (l *load) finish(t *testing.T, c *cluster) {
	t.Helper()
	l.stop()
	api, err := client.New(c.servers[0].api.URL, c.servers[0].api.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	pets, err := history.Pets(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Check(pets, nil); err != nil {
		t.Errorf("the history is not linearizable: %v", err)
	}
	acknowledged, reads := l.Acknowledged(), l.Reads()
	if acknowledged < 50_000 || reads < 50_000 {
		t.Error("so few acknowledged pets and reads show little: want at least 50,000")
	}
	t.Logf("fault: all: %d pets; %d of them acknowledged, %d reads", len(pets), acknowledged, reads)
}
