package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestHTTP2: the responses are those of HTTP/1.1.
func TestHTTP2(t *testing.T) {
	var clients []*http.Client
	var urls []string
	for _, h2 := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(httpapi.New(memory.New(nil), testKeys, &httpapi.Options{MaxBodyBytes: 1000}))
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		t.Cleanup(srv.Close)
		clients, urls = append(clients, srv.Client()), append(urls, srv.URL)
	}
	for _, c := range []struct {
		method, target, credential, body string
	}{
		{"POST", "/pets", "Bearer key-1", rexBody},
		{"POST", "/pets", "Bearer key-1", "{"},
		{"POST", "/pets", "Bearer key-1", ""},
		{"POST", "/pets", "Bearer key-1", pad(1001)},
		{"POST", "/pets", "Bearer nope", pad(1001)},
		{"POST", "/pets", "", rexBody},
		{"POST", "/pets/1", "Bearer key-1", rexBody},
		{"GET", "/pets", "Bearer key-1", ""},
		{"HEAD", "/pets", "Bearer key-1", ""},
		{"GET", "/pets/1", "Bearer key-1", ""},
		{"HEAD", "/pets/9", "Bearer key-1", ""},
		{"GET", "/pets/%31", "Bearer key-1", ""},
		{"GET", "/pets%2F1", "Bearer key-1", ""},
		{"GET", "//pets", "Bearer key-1", ""},
		{"GET", "/pets?limit=0", "Bearer key-1", ""},
		{"DELETE", "/pets", "Bearer key-1", ""},
	} {
		var responses [2]response
		for i, client := range clients {
			req, err := http.NewRequest(c.method, urls[i]+c.target, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"the-same"}, "Authorization": {c.credential}}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.ProtoMajor != i+1 {
				t.Fatalf("%s: %v", resp.Proto, err)
			}
			resp.Header.Del("Date")
			responses[i] = response{status: resp.StatusCode, header: resp.Header, body: string(body)}
		}
		if diff := cmp.Diff(responses[0], responses[1], cmp.AllowUnexported(response{})); diff != "" {
			t.Errorf("%s %s (-HTTP/1.1 +HTTP/2):\n%s", c.method, c.target, diff)
		}
	}
}
