//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

// TestDrain stops the server with SIGTERM while clients are busy, and while the
// first requests arrive on connections that were silent. Every request that the
// server accepts must get its whole response. A request without a response must
// have had no effect.
func TestDrain(t *testing.T) {
	t.Parallel()
	n, random := rounds(1, 8)
	dir, h := t.TempDir(), history.New()
	unanswered := 0
	for round := range n {
		for _, kind := range []string{"busy", "late"} {
			l := newLoad(t, start(t, dir, "-drain=2m"), h) // the machine may be busy
			name := fmt.Sprintf("%s-%d", kind, round)
			if kind == "busy" {
				l.start(64, name)
				l.untilGood()
				time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
				_ = l.s.Signal(syscall.SIGTERM)
			} else {
				l.sendLate(t, name)
			}
			if code := l.s.Wait(); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, l.s.Tail())
			}
			l.wg.Wait()
			if l.cut > 0 || l.others(0) > 0 {
				t.Errorf("%s: %d responses were cut off; responses by status: %v", name, l.cut, l.status)
			}
			checkFile(t, name, "petstore.db", process.ReadFile(t, database(l.s)), h, 0)
			unanswered += l.status[0]
		}
	}
	t.Logf("%d stops, %d pets and messages acknowledged, %d requests without a response", 2*n, h.Acknowledged(), unanswered)
}

// sendLate stops the server and sends requests on connections that have been
// silent, at about the time when the server closes such connections.
func (l *load) sendLate(t *testing.T, name string) {
	clients := make([]*http.Client, 64)
	for i := range clients {
		c := dial(t, l.s)
		clients[i] = &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil },
		}}
	}
	_ = l.s.Signal(syscall.SIGTERM)
	for i, client := range clients {
		l.wg.Go(func() {
			time.Sleep(900*time.Millisecond + time.Duration(i)*3*time.Millisecond)
			_ = l.send(client, history.Request{Create: fmt.Sprintf("%s-%d", name, i)})
		})
	}
}
