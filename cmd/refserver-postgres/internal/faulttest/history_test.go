//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/history"
	"example.com/animalstore/internal/process"
)

// historians are a few clients that record what they send and receive. Their two
// servers have no other clients, and a database of their own.
type historians struct {
	*history.History
	servers []*server
	ended   atomic.Bool
	wg      sync.WaitGroup
}

// startHistory starts four clients, which pause between requests.
func startHistory(t *testing.T, c *cluster) *historians {
	t.Helper()
	psql := func(url, sql string) error {
		out, err := exec.Command(process.Tool(t, "psql"), url, "-c", sql).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", sql, err, out)
		}
		return err
	}
	if err := psql(c.URL("postgres", c.Nodes...)+"&target_session_attrs=read-write", "CREATE DATABASE history"); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes { // a server tries no further host after one that does not have its database yet
		process.Eventually(t, "the database", func() error { return psql(c.URL("history", n), "SELECT 1") })
	}
	h := &historians{History: history.New()}
	dir := t.TempDir()
	for range 2 {
		h.servers = append(h.servers, newServer(t, dir, c.URL("history", c.Nodes...)))
	}
	for i := range 4 {
		h.wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := 0; !h.ended.Load(); n++ {
				time.Sleep(time.Duration(r.Int64N(int64(250 * time.Millisecond))))
				s := h.servers[r.IntN(len(h.servers))]
				h.Do(context.Background(), s.Client, s.URL, s.Key, h.Choose(r, fmt.Sprintf("%d-%d", i, n)))
			}
		})
	}
	return h
}

// end stops the clients. The history must be linearizable.
func (h *historians) end(t *testing.T) {
	t.Helper()
	h.ended.Store(true)
	h.wg.Wait()
	if err := h.Check(h.servers[0].list(t, "", 0)); err != nil {
		t.Errorf("the history is not linearizable: %v", err)
	}
}
