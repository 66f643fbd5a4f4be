//go:build linux

package faulttest

import (
	"context"
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

// anyone lets everybody in.
type anyone struct{}

func (anyone) Authenticate(context.Context, string) (string, error) { return "a", nil }

// TestCancelled gives requests up at random moments, before, while and after
// they are carried out, and looks for what they leave behind.
func TestCancelled(t *testing.T) {
	n, _ := times(t, 1000, 10_000)
	path := filepath.Join(t.TempDir(), "pets.db")
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	srv := httptest.NewServer(httpapi.New(s, anyone{}, &httpapi.Options{Encoded: s}))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var mu sync.Mutex
	created, given := map[string]bool{}, 0
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(c)))
			for i := range n / 16 {
				name := fmt.Sprintf("%d-%d", c, i)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(4000))*time.Microsecond)
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
				mu.Lock()
				if err != nil {
					given++
				} else if resp.StatusCode == http.StatusCreated {
					created[name] = true
				}
				mu.Unlock()
				if err == nil {
					resp.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	srv.Close()
	extra := 0
	for q := (petstore.ListQuery{Limit: 100}); ; {
		page, err := s.ListPets(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Pets {
			if p.CategoryID != int64(len(p.Name)) || p.Status != petstore.StatusAvailable {
				t.Errorf("half a pet: %+v", p)
			}
			if !created[p.Name] {
				extra++
			}
			delete(created, p.Name)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if len(created) > 0 {
		t.Errorf("%d acknowledged pets are missing", len(created))
	}
	if given == 0 {
		t.Error("no request was given up")
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := runtime.NumGoroutine(); got > before {
		t.Errorf("%d goroutines, and %d before", got, before)
	}
	pagesKept(t, s)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }() // it waits for every transaction
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("a transaction was left open")
	}
	if err := storage.Check(path, func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d requests given up; %d pets were created for clients that had gone", given, n, extra)
}

// pagesKept makes sure that pages are used again: a change that takes the place
// of another needs no more room, unless a reader is left that may want the old.
func pagesKept(t *testing.T, s *storage.Store) {
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
			t.Errorf("the file has grown from %d to %d bytes", before, size())
		}
	}
}
