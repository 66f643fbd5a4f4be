//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// conn is a connection to a server.
type conn struct {
	*net.TCPConn
	in *bufio.Reader
}

// tryDial opens a connection that lasts for patience.
func tryDial(s *process.Server) (conn, error) {
	c, err := net.Dial("tcp", s.Host())
	if err != nil {
		return conn{}, err
	}
	return conn{c.(*net.TCPConn), bufio.NewReader(c)}, c.SetDeadline(time.Now().Add(patience))
}

// dial opens a connection that is closed at the end of the test.
func dial(t *testing.T, s *process.Server) conn {
	t.Helper()
	c, err := tryDial(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// receive returns the status and the body of the next response.
func (c conn) receive() (status int, body []byte, err error) {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// raw returns the text of a request with the key.
func raw(s *process.Server, method, target, fields string) string {
	return fmt.Sprintf("%s /v1%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n", method, target, s.Key, fields)
}

// TestEarlyResponses sends large bodies with requests whose responses do not
// depend on the bodies. A client that sends the whole body before it reads
// anything gets every response in full.
func TestEarlyResponses(t *testing.T) {
	t.Parallel()
	n, _ := rounds(1, 20)
	s := start(t, t.TempDir())
	key := "Authorization: Bearer " + s.Key + "\r\n"
	requests := []struct {
		line, fields string
		status       int
	}{
		{"POST /v1/pets", "", 401},
		{"POST /v1/pets", key + "Content-Type: application/json\r\n", 413},
		{"POST /v1/pets", key + "Content-Type: text/plain\r\n", 415},
		{"POST /v1/cats", "", 404},
		{"POST /cats", "", 404},
		{"GET /v1/openapi.json", "", 200},
		{"GET /healthz", "", 200},
	}
	const size = 1 << 20
	body := strings.Repeat(" ", size)
	whole := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, body)
	ways := []string{
		" HTTP/1.1\r\nHost: x\r\n%s" + whole,
		" HTTP/1.1\r\nHost: x\r\n%sConnection: close\r\n" + whole,
		" HTTP/1.0\r\n%s" + whole,
		" HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body),
	}
	for range n {
		for _, r := range requests {
			for _, way := range ways {
				c := dial(t, s)
				_, err := io.WriteString(c, r.line+fmt.Sprintf(way, r.fields))
				status, _, e := c.receive()
				c.Close()
				if err != nil || e != nil || status != r.status {
					t.Errorf("%s%.60q: %d, %v, %v; want %d", r.line, way, status, err, e, r.status)
				}
			}
		}
	}
}

// TestSmuggling sends requests that two readers can take for different ones.
// Each hides a request, a creation, in its body or after it. The server must
// never do what is hidden: it responds at most once, and a refused request ends
// the connection.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	post := strings.TrimSuffix(raw(s, "POST", "/pets", "Content-Type: application/json\r\n"), "\r\n")
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
		var got []string
		for status, body, err := c.receive(); err == nil; status, body, err = c.receive() {
			got = append(got, fmt.Sprintf("%d %.100s", status, body))
		}
		if len(got) > 1 || len(got) == 1 && got[0][0] == '2' {
			t.Errorf("%s: responses %q, want at most one, which refuses the request", name, got)
		}
		c.Close()
	}
	if r := s.Must(http.StatusOK, "GET", "/pets", ""); r.Body != "[]" {
		t.Errorf("a pet was smuggled in: %s", r.Body)
	}
	s.Stop()
}
