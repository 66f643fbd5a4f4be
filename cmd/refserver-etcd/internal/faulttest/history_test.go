//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/internal/history"
	"example.com/animalstore/internal/process"
)

// historians are a few clients that record what they send and receive. Their servers
// have no other clients, and have a store of their own in the cluster.
type historians struct {
	*history.History
	servers []*server
	ended   atomic.Bool
	wg      sync.WaitGroup
}

// startHistory starts four clients. Each of them pauses between two requests, for
// at most the given time.
func startHistory(c *cluster, pause time.Duration) *historians {
	h := &historians{History: history.New()}
	for range 3 {
		h.servers = append(h.servers, c.serve("-etcd-prefix=history/"))
	}
	for i := range 4 {
		h.wg.Go(func() { h.work(i, pause) })
	}
	return h
}

func (h *historians) work(client int, pause time.Duration) {
	r := rand.New(rand.NewPCG(uint64(client), 1))
	for n := 0; !h.ended.Load(); n++ {
		time.Sleep(time.Duration(r.Int64N(int64(pause))))
		s := h.servers[r.IntN(len(h.servers))]
		h.Do(h.Choose(r, fmt.Sprintf("%d-%d", client, n)), func(req history.Request) history.Response {
			return history.Send(context.Background(), s.Client, s.URL, s.Key, req)
		})
	}
}

// end stops the clients. The history must be linearizable.
func (h *historians) end(t *testing.T) {
	t.Helper()
	h.ended.Store(true)
	h.wg.Wait()
	found, all, unknown := h.Operations(h.servers[0].list(t, "", 0))
	var ops []porcupine.Operation
	for _, op := range found {
		ops = append(ops, porcupine.Operation{Input: op.Request, Output: op.Response, Call: int64(op.Call), Return: int64(op.Return)})
	}
	start := time.Now()
	outcome := porcupine.CheckOperationsTimeout(porcupine.Model{Init: history.Init, Step: history.Step}, ops, process.Patience)
	t.Logf("history of %d operations, %d of them with an unknown outcome: %s, in %v", all, unknown, outcome, time.Since(start).Round(time.Millisecond))
	if outcome != porcupine.Ok {
		t.Errorf("the history is %s", outcome)
	}
}
