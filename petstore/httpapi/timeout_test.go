package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// stuckWriter is the response of a client that does not read until release is closed.
type stuckWriter struct {
	http.ResponseWriter
	writes, release chan struct{}
}

func (w stuckWriter) Write(p []byte) (int, error) {
	w.writes <- struct{}{}
	<-w.release
	return 0, io.ErrClosedPipe
}

// TestLargeResponses: 128 large responses are in flight at most. Other requests go
// on, and nothing that was stored is refused.
func TestLargeResponses(t *testing.T) {
	s := newServer(t, &httpapi.Options{MaxBodyBytes: 100_000})
	s.add(strings.Repeat("x", 100_000))
	s.add("Mia")
	var clients sync.WaitGroup
	w := stuckWriter{nil, make(chan struct{}), make(chan struct{})}
	for range 128 {
		clients.Go(func() {
			r := httptest.NewRequest("GET", "/pets/1", nil)
			r.Header.Set("Authorization", "Bearer key-1")
			s.h.ServeHTTP(stuckWriter{httptest.NewRecorder(), w.writes, w.release}, r)
		})
		<-w.writes
	}
	s.want(refused(503, "large"), get("/pets/1"), get("/pets?limit=1"))
	s.want(created, post("/pets", `{"name":"`+strings.Repeat("x", 70_000)+`","categoryId":1}`))
	s.want(found, get("/pets/2"))
	close(w.release)
	clients.Wait()
	s.want(found, get("/pets/1"))
}
