//go:build linux

package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// anyone accepts every key.
type anyone struct{}

func (anyone) Authenticate(context.Context, string) (string, error) { return "a", nil }

// TestCancelled cancels requests at random moments: before, while and after the
// store does its part. No part of a pet, no goroutine, no transaction and no
// page may be left. It counts goroutines, so it runs beside no other test.
func TestCancelled(t *testing.T) {
	n, _ := rounds(1000, 10_000)
	path := filepath.Join(t.TempDir(), "pets.db")
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	srv := httptest.NewServer(httpapi.New(s, anyone{}, &httpapi.Options{Encoded: s}))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var mu sync.Mutex
	acked, cancelled := newLedger(sentPet), 0
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(c)))
			for i := range n / 16 {
				name := fmt.Sprintf("%d-%d", c, i)
				ctx, cancel := context.WithCancel(t.Context())
				if i%8 != 0 {
					time.AfterFunc(time.Duration(r.IntN(4000))*time.Microsecond, cancel)
				}
				method, target, body := "POST", "/pets", petBody(name)
				if i%3 == 0 {
					method, target, body = "GET", "/pets?limit=100", ""
				}
				req, err := http.NewRequestWithContext(ctx, method, srv.URL+target, strings.NewReader(body))
				if err != nil {
					t.Error(err)
				}
				req.Header.Set("Authorization", "Bearer x")
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				var p petstore.Pet
				if err == nil {
					if resp.StatusCode == http.StatusCreated {
						err = json.NewDecoder(resp.Body).Decode(&p)
					}
					resp.Body.Close()
				}
				mu.Lock()
				if err != nil {
					cancelled++
				} else if p.ID > 0 {
					acked.pets[p.ID] = name
				}
				mu.Unlock()
				cancel()
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	srv.Close()
	if cancelled == 0 || acked.len() == 0 {
		t.Errorf("%d requests were cancelled and %d creations acknowledged", cancelled, acked.len())
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := runtime.NumGoroutine(); got > before {
		t.Errorf("%d goroutines, %d before", got, before)
	}
	checkPagesReused(t, s)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }() // it waits for every transaction
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("a transaction is still open")
	}
	extra, _, _ := acked.check(t, "after the requests", path)
	report(t, "%d requests, %d cancelled, %d creations acknowledged, 0 lost, %d done without a client", n, cancelled, acked.len(), len(extra))
}

// checkPagesReused makes sure that the store uses pages again: the file does not
// grow by changes that undo each other, unless a reader still has the old pages.
func checkPagesReused(t *testing.T, s *storage.Store) {
	t.Helper()
	size := func() int64 {
		f, n, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		return n
	}
	churn := func() {
		for range 50 {
			m, err := s.SubmitMessage(t.Context(), strings.Repeat("x", 10_000), petstore.Once{})
			if err == nil {
				err = s.RemoveMessages(t.Context(), m.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	churn()
	if before := size(); size() == before {
		if churn(); size() > before+100_000 {
			t.Errorf("the file grew from %d to %d bytes", before, size())
		}
	}
}
