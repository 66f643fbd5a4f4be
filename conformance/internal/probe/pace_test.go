package probe

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A client sends 4 requests at a time, and more to a target that is far away.
func TestPace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	requests, active, first, most := 0, 0, 0, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests++
		active++
		most = max(most, active)
		if requests == firstRequests {
			first = most
		}
		mu.Unlock()
		time.Sleep(farAway + 10*time.Millisecond)
		mu.Lock()
		active--
		mu.Unlock()
	}))
	defer srv.Close()
	c := NewClient(Config{URL: srv.URL, Timeout: 10 * time.Second, Parallel: 8})
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() { c.Do(t.Context(), Get("/pets")) })
	}
	wg.Wait()
	if first != 4 || most != 8 {
		t.Errorf("%d requests at a time, later %d; want 4, then 8", first, most)
	}
}
