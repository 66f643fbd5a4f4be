package httpapi_test

import (
	"bufio"
	"bytes"
	"net/http"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// FuzzRequest passes any request to the handler. The response must be complete and
// in the documented form, and only a 201 or 202 means that something is stored.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /pets?limit=3 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"name\":\"a\",\"categoryId\":1}",
		"POST /pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n{\"name\":\"a\",\"categoryId\":1}\r\n0\r\n\r\n",
		"POST /messages HTTP/1.1\r\nHost: x\r\nIdempotency-Key: \"k\"\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
		"HEAD /pets HTTP/1.0\r\nX-Request-ID: 1\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil || r.Method == http.MethodHead || r.URL.Path == "/openapi.json" {
			return // responses without a body, or without an Error
		}
		store := memory.New(nil)
		got := perform(t, newHandler(store, testKeys, nil), r)
		stats, err := store.Stats(t.Context())
		if created := stats != (petstore.Stats{}); err != nil || created != (got.Status == 201 || got.Status == 202) {
			t.Fatalf("%q: status %d, and the store has %+v (%v)", raw, got.Status, stats, err)
		}
	})
}
