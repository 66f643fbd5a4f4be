//go:build linux

package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// newCalls returns a load that makes calls of petstore/client. It has not started.
// The client sends its requests to url, and repeats them until the deadline of the
// call.
func (s *server) newCalls(url string) *load {
	s.t.Helper()
	l := s.newLoad()
	l.failures.Transport = &http.Transport{MaxIdleConnsPerHost: 128}
	c, err := client.New(url, s.Key, &client.Options{
		HTTPClient: &http.Client{Transport: &l.failures, Timeout: 30 * time.Second},
		Tries:      math.MaxInt,
		MinWait:    10 * time.Millisecond,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	l.client = c
	return l
}

// failures counts the requests that got no response or one of 500 and above, and the
// connections that were refused.
type failures struct {
	*http.Transport
	all, refused atomic.Int64
}

func (f *failures) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.Transport.RoundTrip(r)
	if err != nil || resp.StatusCode >= 500 {
		f.all.Add(1)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		f.refused.Add(1)
	}
	return resp, err
}

// runCalls makes calls one after another.
func (l *load) runCalls(name string) {
	for n := 0; !l.over(n); n++ {
		l.call(fmt.Sprintf("%s-%d", name, n))
	}
}

// call makes the call for a name: it lists pets if the name ends in 5, and otherwise
// stores the pet or message that write returns for the name.
func (l *load) call(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	status := http.StatusCreated
	var stored any
	var err error
	switch path, _ := write(name); {
	case strings.HasSuffix(name, "5"):
		status, err = http.StatusOK, l.list(ctx)
	case path == "/pets":
		stored, err = l.client.CreatePet(ctx, pet(name), petstore.Once{})
	default:
		stored, err = l.client.SubmitMessage(ctx, name, petstore.Once{})
	}
	body, _ := json.Marshal(stored) // check reports it as missing if it is no pet or message
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", name, err))
		l.unsure = append(l.unsure, name)
		return
	}
	l.status[status]++
	if status == http.StatusCreated {
		l.acknowledge(body)
	}
}

// list lists three pages, or fewer if there are no more.
func (l *load) list(ctx context.Context) error {
	n := int64(0)
	for p, err := range l.client.All(ctx, petstore.ListQuery{Limit: 5}) {
		if err != nil {
			return err
		}
		if n++; p.ID != n {
			return fmt.Errorf("pet %d of the list has the ID %d", n, p.ID)
		}
		if n == 15 {
			break
		}
	}
	return nil
}

// checkCalls stops the server and checks its store after a load of calls. If failure
// is nil, no call may have failed. Otherwise a call may have failed with that error,
// whether or not its pet or message was stored. checkCalls returns the counts.
func (l *load) checkCalls(failure error) string {
	t := l.s.t
	t.Helper()
	l.s.Stop()
	others := slices.DeleteFunc(slices.Clone(l.errs), func(err error) bool { return errors.Is(err, failure) })
	if len(others) > 0 {
		t.Errorf("%d calls failed, for instance %v", len(others), others[:min(3, len(others))])
	}
	extra, _ := l.check(t, "after the calls", l.s.db())
	for _, name := range extra {
		if !slices.Contains(l.unsure, name) {
			t.Errorf("%q is in the store, but no failed call can have stored it", name)
		}
	}
	return fmt.Sprintf("%d calls, %d requests failed, %d acknowledged, 0 lost, 0 twice, %d errors of which %d were stored",
		l.good()+len(l.errs), l.failures.all.Load(), len(l.names), len(l.errs), len(extra))
}

// TestClientRestarts kills and stops the server at random moments, and starts it
// again at the same address, while callers use petstore/client. No caller may see
// an error.
func TestClientRestarts(t *testing.T) {
	parallel(t)
	n, random := rounds(4, 100)
	dir, drain := t.TempDir(), "PETSTORE_DRAIN=2m" // the machine may be busy
	// A port of 127.0.0.2 is taken by nothing else while the server is stopped.
	s := startAt(t, "127.0.0.2:0", dir, "env", drain)
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
		s = startAt(t, s.Host(), dir, "env", drain)
		l.s = s
	}
	l.untilGood()
	l.end()
	report(t, "%d kills, %d stops, %d connections refused, %s", n-n/2, n/2, l.failures.refused.Load(), l.checkCalls(nil))
}

// TestClientOverload makes more calls than fit into the server's queue while the
// first sync of the server does not end. The server refuses the others with 503,
// again and again, until the sync ends. No caller may see an error.
func TestClientOverload(t *testing.T) {
	needStrace(t)
	parallel(t)
	n, _ := rounds(100, 10_000)
	allowFiles(t, 10_000)
	dir := t.TempDir()
	start(t, dir).Stop() // makes the store
	s := start(t, dir, inject("fdatasync:delay_enter=3600000000")...)
	l := s.newCalls(s.URL)
	l.each = 1
	l.start(3200, "c") // one commit takes at most 1024 writes, and 2048 may wait
	for i := range int64(n) {
		s.Until("a request is refused", func() bool { return l.failures.all.Load() > i })
	}
	s.endInjection()
	l.wg.Wait()
	report(t, "%s", l.checkCalls(nil))
}
