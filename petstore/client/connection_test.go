package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// body is a body of a response. It records whether it is read and closed.
type body struct{ read, closed bool }

func (b *body) Read([]byte) (int, error) {
	b.read = true
	return 0, io.EOF
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// The client reads the body of every response and closes it, so connections are reused.
// But the body of a 101 is a connection, which may never end.
func TestBodyIsClosed(t *testing.T) {
	for _, status := range []int{101, 200, 201, 302, 404, 500} {
		var b body
		c := newClient(t, &client.Options{Tries: 1}, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: &b, Request: r}, nil
		})
		if _, err := c.CreatePet(ctx, rex, none); err == nil || !b.closed || b.read != (status != 101) {
			t.Errorf("%d: the body is %+v, error %v", status, b, err)
		}
	}
}

// If a reused connection ends after a creation was sent, net/http must not send the
// creation again. Only the client may, if the server honours Idempotency-Key.
func TestLostOnReusedConnection(t *testing.T) {
	for honoured, want := range map[string]int{"?0": 1, "?1": 2} {
		var mu sync.Mutex
		var keys []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			w.Header().Set("Accept-Idempotency-Key", honoured)
			if r.Method == "GET" {
				fmt.Fprint(w, "[]")
				return
			}
			io.Copy(io.Discard, r.Body)
			if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":7,"name":"Rex","categoryId":1}`)
		}))
		defer srv.Close()
		c, err := client.New(srv.URL, testKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListPets(ctx, petstore.ListQuery{}); err != nil {
			t.Fatal(err)
		}
		_, err = c.CreatePet(ctx, rex, none)
		mu.Lock()
		defer mu.Unlock()
		if len(keys) != want || keys[0] == "" || keys[0] != keys[want-1] || (err == nil) != (want == 2) || errors.Is(err, client.ErrUnknownOutcome) != (want == 1) {
			t.Errorf("Accept-Idempotency-Key: %s: the server received creations with the keys %q, and the error is %v", honoured, keys, err)
		}
	}
}
