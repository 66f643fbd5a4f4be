//go:build linux

package faulttest

import (
	"bufio"
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
	t.Parallel()
	s := start(t, t.TempDir())
	post := post(s)
	const pet = `{"name":"smuggled","categoryId":1}`
	hidden := post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(pet), pet)
	size := len(hidden)
	for name, request := range map[string]string{
		"a length and chunks":    post + fmt.Sprintf("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", hidden),
		"chunks and a length":    post + fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n%s", size+5, hidden),
		"two lengths":            post + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", size, hidden),
		"a signed length":        post + "Content-Length: +0\r\n\r\n" + hidden,
		"a space before a colon": post + "Content-Length : 0\r\n\r\n" + hidden,
		"an unknown coding":      post + "Transfer-Encoding: xchunked\r\n\r\n" + hidden,
		"chunked not last":       post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + hidden,
		"chunks":                 post + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"chunks in HTTP/1.0":     strings.Replace(post, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"a request in a chunk":   post + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, hidden),
		"a request in a body":    post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, hidden),
		"a bare CR":              post + "X-A: b\rContent-Length: 0\r\n\r\n" + hidden,
		"two hosts":              post + "Host: y\r\n\r\n" + hidden,
		"HTTP/0.9":               "GET /v1/pets\r\n" + hidden,
	} {
		c := dial(t, s)
		_, _ = io.WriteString(c, request) // fails where it is refused before it is complete
		_ = c.CloseWrite()
		var statuses []int
		in := bufio.NewReader(c)
		for resp, err := http.ReadResponse(in, nil); err == nil; resp, err = http.ReadResponse(in, nil) {
			_, _ = io.Copy(io.Discard, resp.Body)
			statuses = append(statuses, resp.StatusCode)
		}
		if len(statuses) > 1 || len(statuses) == 1 && statuses[0] < 400 {
			t.Errorf("%s: responses %v, want at most one, which refuses the request", name, statuses)
		}
	}
	if r := s.Must(http.StatusOK, "GET", "/pets", ""); r.Body != "[]" {
		t.Errorf("a pet was smuggled in: %s", r.Body)
	}
	s.Stop()
}
