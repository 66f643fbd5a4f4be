package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
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

// TestDiscardBodySlow: a client that sends a refused body too slowly is cut off
// when the server's time limit or ten seconds are over.
func TestDiscardBodySlow(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Hour: 10 * time.Second, time.Second: time.Second} {
		for _, field := range []string{"X: keep-alive", "Connection: close"} {
			synctest.Test(t, func(t *testing.T) {
				l, stop := servePipes(&http.Server{Handler: newHandler(memory.New(nil), testKeys, nil), ReadTimeout: timeout})
				defer stop()
				start := time.Now()
				c := l.dial(t)
				go c.write(request("POST /pets", field, "Content-Length: 1000000") + " ")
				r := c.next("POST")
				if took := time.Since(start); r.Status != 401 || !r.Closes || took != want {
					t.Errorf("timeout %v, %s: response %+v after %v", timeout, field, r, took)
				}
				if rest := c.rest(); rest != "" {
					t.Errorf("after the response: %q", rest)
				}
			})
		}
	}
}

// TestUnreadResponses: the total size of unread responses is limited, and each is
// cut off after ten seconds even if the server has no timeout.
func TestUnreadResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		cut := make(chan struct{}, 2)
		store := memory.New(nil)
		for _, name := range []string{strings.Repeat("x", size), "Mia"} {
			if _, err := store.CreatePet(t.Context(), petstore.NewPet{Name: name}, petstore.Once{}); err != nil {
				t.Fatal(err)
			}
		}
		h := newHandler(store, testKeys, &httpapi.Options{
			MaxResponseBytes: size * 3 / 2, // room for two: the first alone does not reach it
			Observe: func(_ context.Context, o httpapi.Observation) {
				if o.Status == http.StatusOK && 0 < o.Bytes && o.Bytes < size && o.Path == "/pets/1" {
					cut <- struct{}{}
				}
			},
		})
		for _, http2 := range []bool{false, true} {
			protocols := new(http.Protocols)
			protocols.SetHTTP1(!http2)
			protocols.SetUnencryptedHTTP2(http2)
			l, stop := servePipes(&http.Server{Handler: h, Protocols: protocols})
			defer stop()
			transport := &http.Transport{
				Protocols:   protocols,
				HTTP2:       &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10},
				DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial(t).Conn, nil },
			}
			defer transport.CloseIdleConnections()
			req, err := http.NewRequest("GET", "http://h/pets/1", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer key-1")
			resp, err := transport.RoundTrip(req)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("response %+v, %v", resp, err)
			}
			defer resp.Body.Close()
		}
		perform := func(method, target, body string) response {
			r := httptest.NewRequest(method, target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			return record(t, h, r)
		}
		wantDiff := func(w want, r response) {
			t.Helper()
			if diff := w.diff(r); diff != "" {
				t.Errorf("(-want +got):\n%.1000s", diff)
			}
		}
		long := strings.Repeat("x", 100_000)
		wantDiff(refused(503, "large"), perform("GET", "/pets/1", ""))
		wantDiff(refused(503, "large"), perform("GET", "/pets?limit=1", ""))
		wantDiff(refused(503, "large"), perform("POST", "/pets", `{"name":"`+long+`","categoryId":1}`))
		wantDiff(refused(503, "large"), perform("POST", "/messages", `{"message":"`+long+`"}`))
		wantDiff(found, perform("GET", "/pets/2", ""))
		wantDiff(created, perform("POST", "/pets", rexBody))
		if stats, err := store.Stats(t.Context()); err != nil || stats != (petstore.Stats{Pets: 3}) {
			t.Errorf("stored %+v, %v", stats, err)
		}
		if got := httpapi.ResponseBytesInFlight(); got < 2*size {
			t.Errorf("%d bytes in flight, want at least %d", got, 2*size)
		}
		start := time.Now()
		<-cut
		<-cut
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("unread responses were cut off after %v", took)
		}
		wantDiff(found, perform("GET", "/pets/1", ""))
	})
}

// TestDiscardBody: a client without a key that sends all of a large body before
// it reads gets its response, and can send another request unless it asked to
// close the connection.
func TestDiscardBody(t *testing.T) {
	s := newServer(t, nil)
	body := strings.Repeat(" ", 4<<20)
	for range 3 {
		c := dial(t, s.addr)
		for _, field := range []string{"X: keep-alive", "Connection: close"} {
			if _, err := io.WriteString(c, postBare("/pets", body, field)); err != nil {
				t.Fatalf("%s: %v", field, err)
			}
			if r := c.next("POST"); r.Status != 401 {
				t.Errorf("%s: response %+v", field, r)
			}
		}
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("the connection stays open: %v", err)
		}
	}
}

// TestDiscardBodyEndless: a client that sends too much is cut off.
func TestDiscardBodyEndless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := servePipes(&http.Server{Handler: newHandler(memory.New(nil), testKeys, nil)})
		defer stop()
		c := l.dial(t)
		go func() { _, _ = io.Copy(io.Discard, c.in) }()
		start := time.Now()
		_, err := io.WriteString(c, request("POST /pets", isChunked))
		sent := 0
		for chunk := strings.TrimSuffix(chunked(pad(1<<16), 1<<16), "0\r\n\r\n"); err == nil && sent < 1<<30; sent += len(chunk) {
			_, err = io.WriteString(c, chunk)
		}
		if took := time.Since(start); sent > 5<<20 || took >= 10*time.Second {
			t.Errorf("%d bytes were read in %v", sent, took)
		}
	})
}
