package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// TestSlowBody: a body that does not come within the server's time limit gets a
// response, and nothing is stored.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		l, stop := servePipes(&http.Server{Handler: newHandler(store, testKeys, nil), ReadTimeout: time.Second})
		defer stop()
		for _, raw := range []string{
			request("POST /pets", authorized, isJSON, "Content-Length: 29") + rexBody[:20],
			request("POST /pets", authorized, isJSON, isChunked) + "1d\r\n" + rexBody[:20],
		} {
			c := l.dial(t)
			go c.write(raw)
			if r := c.next("POST"); refused(408, "").diff(r) != "" || !r.Closes || c.rest() != "" {
				t.Errorf("%q: response %+v", raw, r)
			}
		}
		if stats, err := store.Stats(t.Context()); err != nil || stats.Pets != 0 {
			t.Errorf("%d pets, %v", stats.Pets, err)
		}
	})
}

// TestLargeResponses: 128 large responses are in flight at most. Other requests go
// on, and nothing that was stored is refused.
func TestLargeResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		for _, name := range []string{strings.Repeat("x", 100_000), "Mia"} {
			if _, err := store.CreatePet(t.Context(), petstore.NewPet{Name: name}, petstore.Once{}); err != nil {
				t.Fatal(err)
			}
		}
		h := newHandler(store, testKeys, nil)
		l, stop := servePipes(&http.Server{Handler: h, WriteTimeout: time.Minute})
		defer stop()
		const clients = 128
		for range clients {
			c := l.dial(t)
			c.write(get("/pets/1"))
			synctest.Wait()
		}
		wantDiff := func(w want, method, target, body string) {
			t.Helper()
			r := httptest.NewRequest(method, target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if diff := w.diff(record(t, h, r)); diff != "" {
				t.Errorf("(-want +got):\n%.1000s", diff)
			}
		}
		wantDiff(refused(503, "large"), "GET", "/pets/1", "")
		wantDiff(refused(503, "large"), "GET", "/pets?limit=1", "")
		wantDiff(created, "POST", "/pets", `{"name":"`+strings.Repeat("x", 65_000)+`","categoryId":1}`)
		wantDiff(found, "GET", "/pets/2", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		wantDiff(found, "GET", "/pets/1", "")
	})
}
