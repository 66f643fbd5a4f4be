package client_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/storage/memory"
)

// The client reuses connections after every kind of response, over HTTP/1.1 and
// HTTP/2.
func TestConnections(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %v", http2), func(t *testing.T) {
			store := memory.New(nil)
			var opened, others atomic.Int64
			h := handler(store)
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if (r.ProtoMajor == 2) != http2 {
					others.Add(1)
				}
				h.ServeHTTP(w, r)
			}))
			srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					opened.Add(1)
				}
			}
			opts := &client.Options{}
			if srv.EnableHTTP2 = http2; http2 {
				srv.StartTLS()
				opts.HTTPClient = srv.Client()
			} else {
				srv.Start()
			}
			defer srv.Close()
			c := newClient(t, srv.URL+"/v1", opts)
			for i := range 20 {
				pet, err := c.CreatePet(ctx, petstore.NewPet{Name: strings.Repeat("x", i*5000)}, none)
				if err != nil {
					t.Fatal(err)
				}
				c.GetPet(ctx, pet.ID)
				c.GetPet(ctx, -1)
				c.ListPets(ctx, petstore.ListQuery{})
			}
			// On a slow machine net/http sometimes abandons a connection. If the client did
			// so after one kind of response, there would be 20.
			if n := opened.Load(); n >= 20 || others.Load() != 0 {
				t.Errorf("%d connections for 80 requests, %d requests over another protocol; want one or a few, and 0", n, others.Load())
			}
		})
	}
}

// If a reused connection ends after a creation was sent, net/http must not send the
// creation again. Only the client may, if the server honours Idempotency-Key.
func TestLostOnReusedConnection(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		t.Run(strconv.FormatBool(idempotent), func(t *testing.T) {
			var mu sync.Mutex
			var keys []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if idempotent {
					w.Header().Set("Accept-Idempotency-Key", "?1")
				}
				if r.Method == "GET" {
					response(200, "[]")(w, r)
					return
				}
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if len(keys) == 1 {
					raw("")(w, r)
					return
				}
				response(201, `{"id":7,"name":"Rex","categoryId":1}`)(w, r)
			}))
			defer srv.Close()
			c := newClient(t, srv.URL, nil)
			if _, err := c.ListPets(ctx, petstore.ListQuery{}); err != nil {
				t.Fatal(err)
			}
			_, err := c.CreatePet(ctx, rex, none)
			mu.Lock()
			defer mu.Unlock()
			want := 1
			if idempotent {
				want = 2
			}
			if len(keys) != want || keys[0] == "" || keys[0] != keys[want-1] || (err == nil) != idempotent || errors.Is(err, client.ErrUnknownOutcome) == idempotent {
				t.Errorf("the server received creations with the keys %q, and the error is %v", keys, err)
			}
		})
	}
}

// A server that switches protocols and then sends nothing does not hold the call.
func TestSwitchingProtocols(t *testing.T) {
	returned, held := make(chan struct{}), make(chan bool, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
		select {
		case <-returned:
			held <- false
		case <-time.After(10 * time.Second):
			held <- true
		}
	}))
	defer srv.Close()
	_, err := newClient(t, srv.URL, &client.Options{Tries: 1}).CreatePet(ctx, rex, none)
	close(returned)
	if !errors.Is(err, client.ErrUnknownOutcome) || <-held {
		t.Errorf("the error is %v, or came after the connection was closed", err)
	}
}
