package httpapi_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// FuzzRequest sends any bytes over a connection. The server must return whole
// responses, none of them 5xx, and create at most one pet for each POST.
func FuzzRequest(f *testing.F) {
	const auth = "Authorization: Bearer key-1\r\n"
	for _, s := range []string{
		"GET /pets?limit=3 HTTP/1.1\r\nHost: x\r\n" + auth + "\r\n",
		"GET /pets/1 HTTP/1.1\r\nHost: x\r\n" + auth + "\r\nGET /pets/2 HTTP/1.1\r\nHost: x\r\n" + auth + "\r\n",
		"POST /pets HTTP/1.1\r\nHost: x\r\n" + auth + "Content-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"name\":\"a\",\"categoryId\":1}",
		"POST /pets HTTP/1.1\r\nHost: x\r\n" + auth + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n{\"name\":\"a\",\"categoryId\":1}\r\n0\r\n\r\n",
		"POST /pets HTTP/1.1\r\nHost: x\r\n" + auth + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /pets HTTP/1.1\r\n\r\n",
		"HEAD /pets HTTP/1.0\r\n" + auth + "\r\n", "GET /\x00 HTTP/9.9\r\n\r\n", "GET /pets\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /pets HTTP/1.1\r\nHost: x\r\nIdempotency-Key: \"k\"\r\nExpect: 100-continue\r\n" + auth + "Content-Length: 2\r\n\r\n{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		store := memory.New(nil)
		l, stop := servePipes(&http.Server{Handler: httpapi.New(store, testKeys, nil), ReadTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0)})
		client := l.dial(t)
		// A pipe has no buffer, so bytes that the server does not read would
		// block forever.
		end := time.AfterFunc(50*time.Millisecond, func() { client.Close() })
		defer end.Stop()
		go func() {
			if _, err := client.Write(raw); err == nil {
				_, _ = io.WriteString(client, "\r\n\r\n")
				end.Reset(5 * time.Millisecond)
			}
		}()
		var got bytes.Buffer
		_, _ = io.Copy(&got, client)
		client.Close()
		stop()
		for br := bufio.NewReader(&got); ; {
			if bytes.Contains(raw, []byte("HEAD")) {
				break // responses to HEAD have no body, and it is unknown here which these are
			}
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("no valid response to %q: %v", raw, err)
				}
				break
			}
			if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented && resp.StatusCode != http.StatusHTTPVersionNotSupported {
				t.Fatalf("the response to %q is %s", raw, resp.Status)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				break // the connection was closed
			}
		}
		stats, err := store.Stats(t.Context())
		if posts := strings.Count(strings.ToUpper(string(raw)), "POST"); err != nil || stats.Pets > int64(posts) {
			t.Fatalf("%q created %d pets (%v)", raw, stats.Pets, err)
		}
	})
}
