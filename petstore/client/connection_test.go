package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// If a reused connection ends after a creation was sent, net/http must not send the
// creation again. Only the client may, with RetryWrites.
func TestLostOnReusedConnection(t *testing.T) {
	for retry, want := range map[bool]int64{false: 1, true: 2} {
		var creations atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if r.Method == "POST" && creations.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			resp, _ := okay(r)
			w.WriteHeader(resp.StatusCode)
			io.Copy(w, resp.Body)
		}))
		defer srv.Close()
		c, err := client.New(srv.URL, testKey, &client.Options{RetryWrites: retry})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListPets(ctx, petstore.ListQuery{}); err != nil {
			t.Fatal(err)
		}
		if _, err = c.CreatePet(ctx, rex, none); creations.Load() != want || (err == nil) != retry || errors.Is(err, client.ErrUnknownOutcome) == retry {
			t.Errorf("RetryWrites %v: the server received %d creations, and the error is %v", retry, creations.Load(), err)
		}
	}
}
