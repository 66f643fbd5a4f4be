//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/history"
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
	execute(t, c, "CREATE DATABASE history")
	h := &historians{History: history.New()}
	dir := t.TempDir()
	for range 2 {
		h.servers = append(h.servers, newServer(t, dir, strings.Replace(c.URL(), "/postgres?", "/history?", 1)))
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
