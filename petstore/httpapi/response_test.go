package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestUnreadResponses: the total size of unread responses is limited, and each is
// cut off even if the server has no timeout.
func TestUnreadResponses(t *testing.T) {
	const size = 16 << 20 // more than the system's buffers hold
	cut := make(chan struct{}, 2)
	opts := &httpapi.Options{
		MaxResponseBytes: size * 3 / 2, // room for two: the first alone does not reach it
		Observe: func(_ context.Context, o httpapi.Observation) {
			if o.Status == http.StatusOK && 0 < o.Bytes && o.Bytes < size && o.Path == "/pets/1" {
				cut <- struct{}{}
			}
		},
	}
	store := memory.New(nil)
	h := newHandler(store, testKeys, opts)
	s := &server{t, store, listen(t, h)}
	s.add(strings.Repeat("x", size), "Mia")
	for _, h2 := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(h)
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		t.Cleanup(srv.Close)
		srv.Client().Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
		req, err := http.NewRequest("GET", srv.URL+"/pets/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer key-1")
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", resp.Proto, resp.StatusCode)
		}
	}
	long := strings.Repeat("x", 100_000)
	refused := want{status: 503, code: "unavailable", says: "large"}
	s.run([]rawCase{
		{"a large pet", get("/pets/1"), refused},
		{"a large list", get("/pets?limit=1"), refused},
		{"a large new pet", post("/pets", `{"name":"`+long+`","categoryId":1}`), refused},
		{"a large message", post("/messages", `{"message":"`+long+`"}`), refused},
		{"a small pet", get("/pets/2"), want200},
		{"a small new pet", post("/pets", rexBody), want{status: 201}},
	})
	for range 2 {
		select {
		case <-cut:
		case <-time.After(2 * time.Minute):
			t.Fatal("an unread response is not cut off")
		}
	}
	if err := send(t, s.addr, get("/pets/1")).check(want200); err != nil {
		t.Error(err)
	}
}
