//go:build linux

package faulttest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestSmuggling sends requests that two readers can take for different ones.
// Each hides a request, a creation, in its body or after it. The server must
// never do what is hidden: it responds at most once, and a refused request ends
// the connection.
func TestSmuggling(t *testing.T) {
	parallel(t)
	s := start(t, t.TempDir())
	hidden := s.raw("POST", "/pets", "", petBody("smuggled"))
	get := strings.TrimSuffix(s.raw("GET", "/pets", "", ""), "\r\n")
	post := strings.TrimSuffix(s.raw("POST", "/pets", "Content-Type: application/json\r\n", ""), "\r\n")
	size := len(hidden)
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, hidden)
	tests := []struct{ name, raw string }{
		{"a length and chunks", post + fmt.Sprintf("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", hidden)},
		{"chunks and a length", post + fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n%s", size+5, hidden)},
		{"two lengths", post + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", size, hidden)},
		{"two lengths in one field", post + fmt.Sprintf("Content-Length: 0, %d\r\n\r\n%s", size, hidden)},
		{"a signed length", post + "Content-Length: +0\r\n\r\n" + hidden},
		{"a negative length", post + "Content-Length: -1\r\n\r\n" + hidden},
		{"a hexadecimal length", post + "Content-Length: 0x0\r\n\r\n" + hidden},
		{"a length that overflows", post + "Content-Length: 18446744073709551616\r\n\r\n" + hidden},
		{"a space before the colon", post + "Content-Length : 0\r\n\r\n" + hidden},
		{"an unknown coding", post + "Transfer-Encoding: xchunked\r\n\r\n" + hidden},
		{"chunked twice", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + hidden},
		{"chunked not last", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + hidden},
		{"two codings", post + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden},
		{"chunked with a tab", post + "Transfer-Encoding:\tchunked\v\r\n\r\n0\r\n\r\n" + hidden},
		{"a bad chunk size", post + "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + hidden},
		{"a negative chunk size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + hidden},
		{"a chunk size that overflows", post + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n" + hidden},
		{"a chunk without its end", post + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n" + hidden},
		{"chunks with bare LF", post + "Transfer-Encoding: chunked\r\n\r\n0\n\n" + hidden},
		{"a trailer with a length", post + "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\nContent-Length: 9\r\n\r\n" + hidden},
		{"chunks in HTTP/1.0", strings.Replace(post, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden},
		{"a request in a chunk", post + "Transfer-Encoding: chunked\r\n\r\n" + chunk},
		{"a request in a body", post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, hidden)},
		{"a request in a body of GET", get + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, hidden)},
		{"a folded field", post + "X-Folded: a\r\n Content-Length: 0\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + hidden},
		{"bare CR", post + "X-A: b\rContent-Length: 0\r\n\r\n" + hidden},
		{"NUL in a name", post + "Content-\x00Length: 0\r\n\r\n" + hidden},
		{"NUL in a value", post + "X-A: \x00\r\nContent-Length: 0\r\n\r\n" + hidden},
		{"no name", post + ": 0\r\n\r\n" + hidden},
		{"no colon", post + "Content-Length\r\n\r\n" + hidden},
		{"no host", strings.Replace(post, "Host: x\r\n", "", 1) + "\r\n" + hidden},
		{"two hosts", post + "Host: y\r\n\r\n" + hidden},
		{"HTTP/0.9", "GET /v1/pets\r\n" + hidden},
		{"HTTP/9.9", strings.Replace(get, "HTTP/1.1", "HTTP/9.9", 1) + "\r\n" + hidden},
		{"HTTP/1.10", strings.Replace(get, "HTTP/1.1", "HTTP/1.10", 1) + "\r\n" + hidden},
		{"a space in the target", "GET /v1/pets /x HTTP/1.1\r\nHost: x\r\n\r\n" + hidden},
		{"a method with a slash", "GE/T /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n" + hidden},
		{"no method", " /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n" + hidden},
		{"a header without an end", get + "X-A: " + strings.Repeat("a", 100_000)},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + hidden},
	}
	for _, tt := range tests {
		conn := s.dial()
		_, _ = io.WriteString(conn, tt.raw) // fails where it is refused before it is complete
		_ = conn.CloseWrite()
		var got []string
		for {
			resp, body, err := conn.receive()
			if err != nil {
				break
			}
			got = append(got, fmt.Sprintf("%d %.100s", resp.StatusCode, body))
		}
		if len(got) > 1 {
			t.Errorf("%s: %d responses: %q", tt.name, len(got), got)
		}
		if len(got) == 1 && got[0][0] == '2' && !strings.HasPrefix(tt.raw, "GET") {
			t.Errorf("%s: accepted with %q", tt.name, got)
		}
		conn.Close()
	}
	if r := s.Must(http.StatusOK, "GET", "/pets", ""); r.Body != "[]" {
		t.Errorf("a pet was smuggled in: %s", r.Body)
	}
	s.Stop()
	report(t, "%d requests, 0 smuggled in", len(tests))
}
