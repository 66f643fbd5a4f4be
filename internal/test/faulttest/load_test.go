//go:build linux

package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

// load is clients that send requests at the same time. The history, which later loads may
// go on with, has what they send and receive.
type load struct {
	*history.History
	s        *process.Server
	client   *http.Client
	requests int // how many a client sends

	wg    sync.WaitGroup
	ended atomic.Bool

	mu     sync.Mutex
	status map[int]int // number of responses by status, under 0 of requests without a whole one
	cut    int         // number of responses that began and did not end
}

// newLoad returns a load that has not started, with a new history if h is nil. Its clients
// send requests until end is called.
func newLoad(t *testing.T, s *process.Server, h *history.History) *load {
	if h == nil {
		h = history.New()
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2000}, Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	return &load{History: h, s: s, client: client, requests: math.MaxInt, status: map[int]int{}}
}

// start starts n clients. The names of their pets and messages begin with name. A client
// also ends when the server takes no more connections.
func (l *load) start(n int, name string) {
	for i := range n {
		l.wg.Go(func() {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			for n := 0; n < l.requests && !l.ended.Load(); n++ {
				err := l.send(l.client, l.choose(random, fmt.Sprintf("%s-%d", name, i), n))
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
			}
		})
	}
}

// choose returns the n-th request of a client. Some pets are longer than a page, and some
// messages are sent twice.
func (l *load) choose(random *rand.Rand, client string, n int) history.Request {
	if random.IntN(4) == 0 {
		return history.Request{Message: fmt.Sprintf("%s-%d", client, n/2)}
	}
	name := fmt.Sprintf("%s-%d", client, n)
	if random.IntN(8) == 0 {
		name += strings.Repeat(" long", 900)
	}
	return l.Choose(random, name)
}

// send sends a request. It returns an error if there is no whole response.
func (l *load) send(client *http.Client, req history.Request) error {
	status, err := l.Do(context.Background(), client, l.s.URL, l.s.Key, req)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status[status]++
	if errors.Is(err, io.ErrUnexpectedEOF) {
		l.cut++
	}
	return err
}

// good returns how many responses report success, or that a pet is not there yet.
func (l *load) good() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status[http.StatusOK] + l.status[http.StatusCreated] + l.status[http.StatusAccepted] + l.status[http.StatusNotFound]
}

// others returns how many responses are not good and have none of these statuses.
func (l *load) others(statuses ...int) int {
	n := -l.good()
	for status, count := range l.status {
		if !slices.Contains(statuses, status) {
			n += count
		}
	}
	return n
}

// untilGood waits until another response is good.
func (l *load) untilGood() {
	before := l.good()
	l.s.Until("a request succeeds", func() bool { return l.good() > before })
}

// end waits until the clients have their responses, and ends them.
func (l *load) end() {
	l.ended.Store(true)
	l.wg.Wait()
}
