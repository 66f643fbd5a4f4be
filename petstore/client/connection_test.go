package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

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

// A creation that was not sent is no unknown outcome.
func TestNotSent(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	c, err := client.New("https://"+silent.Addr().String(), testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreatePet(ctx, rex, none); errors.Is(err, client.ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a TLS handshake: %v", err)
	}
}
