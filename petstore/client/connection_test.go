package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
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

// Over HTTP/2 net/http repeats a request after a PROTOCOL_ERROR, which may follow the work
// of the server.
func TestLostOverHTTP2(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	config := certified.TLS.Clone()
	config.NextProtos = []string{"h2"}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var created atomic.Int64
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			io.CopyN(io.Discard, conn, 24)                // the preface
			conn.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}) // SETTINGS
			for head := make([]byte, 9); err == nil; {    // RFC 9113, section 4.1
				if _, err = io.ReadFull(conn, head); err != nil {
					break
				}
				_, err = io.CopyN(io.Discard, conn, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
				if head[3] == 0 && head[4]&1 == 1 { // the end of DATA
					created.Add(1)
					conn.Write(slices.Concat([]byte{0, 0, 4, 3, 0}, head[5:], []byte{0, 0, 0, 1})) // RST_STREAM
				}
			}
		}
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certified.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}, ForceAttemptHTTP2: true}
	c, err := client.New("https://"+ln.Addr().String(), testKey, &client.Options{HTTPClient: &http.Client{Transport: transport, Timeout: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreatePet(ctx, rex, none); !errors.Is(err, client.ErrUnknownOutcome) || created.Load() != 1 {
		t.Errorf("the server received %d creations, and the error is %v", created.Load(), err)
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
