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

	"github.com/anishathalye/porcupine"

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

// startHistory starts four clients, which pause between requests, so that there are
// few enough operations to be checked.
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
				h.Do(h.Choose(r, fmt.Sprintf("%d-%d", i, n)), func(req history.Request) history.Response {
					return history.Send(context.Background(), s.Client, s.URL, s.Key, req)
				})
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
	found, all, unknown := h.Operations(h.servers[0].list(t, "", 0))
	var ops []porcupine.Operation
	for _, op := range found {
		ops = append(ops, porcupine.Operation{Input: op.Request, Output: op.Response, Call: int64(op.Call), Return: int64(op.Return)})
	}
	outcome := porcupine.CheckOperationsTimeout(porcupine.Model{Init: history.Init, Step: history.Step}, ops, process.Patience)
	t.Logf("fault: history of %d operations, %d of them with an unknown outcome: %s", all, unknown, outcome)
	if outcome != porcupine.Ok {
		t.Errorf("the history is %s", outcome)
	}
}
