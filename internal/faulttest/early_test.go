//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spaces returns a reader of n spaces, which reads a few kilobytes at a time.
func spaces(n int) io.Reader {
	const size = 4 << 10
	var parts []io.Reader
	for ; n > 0; n -= size {
		parts = append(parts, strings.NewReader(strings.Repeat(" ", min(n, size))))
	}
	return io.MultiReader(parts...)
}

// TestEarlyResponses sends large bodies with requests whose responses do not
// depend on the bodies. A client that sends the whole body before it reads
// anything gets every response in full.
func TestEarlyResponses(t *testing.T) {
	parallel(t)
	tries, _ := rounds(8, 1000)
	s := start(t, t.TempDir())
	sent := 0
	key := "Authorization: Bearer " + s.Key + "\r\n"
	requests := []struct {
		line, header string
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
	ways := []struct{ name, version, header string }{
		{"keep-alive", "1.1", ""},
		{"close", "1.1", "Connection: close\r\n"},
		{"HTTP/1.0", "1.0", ""},
		{"chunked", "1.1", "Transfer-Encoding: chunked\r\n"},
		{"client of net/http", "", ""},
	}
	for _, size := range []int{70_000, 300_000, 1 << 20} {
		for _, way := range ways {
			t.Run(fmt.Sprintf("%s, %d bytes", way.name, size), func(t *testing.T) {
				var lost, n atomic.Int64
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						for i := n.Add(1); i <= int64(tries); i = n.Add(1) {
							r := requests[int(i)%len(requests)]
							status, err := inTime(func() (int, error) { return early(s, r.line, way.version, way.header+r.header, size) })
							if err != nil || status != r.status {
								if lost.Add(1) <= 3 {
									t.Logf("%s: %d, %v; want %d", r.line, status, err, r.status)
								}
							}
						}
					})
				}
				wg.Wait()
				sent += tries
				if lost.Load() > 0 {
					t.Errorf("%d of %d responses lost", lost.Load(), tries)
				}
			})
		}
	}
	report(t, "%d early responses, 0 lost", sent)
}

// inTime sends a request. It is sent again if it fails because the machine is so
// slow that the server does not wait for all of the body.
func inTime(send func() (int, error)) (status int, err error) {
	const limit = 19 * time.Second // the server's is 20
	for range 10 {
		began := time.Now()
		if status, err = send(); err == nil || time.Since(began) < limit {
			return status, err
		}
	}
	return status, err
}

// early sends a whole request on a connection of its own before it reads the
// response; without a version, by the client of net/http.
func early(s *server, line, version, header string, size int) (status int, err error) {
	head := func(version string) string { return line + " HTTP/" + version + "\r\nHost: h\r\n" + header + "\r\n" }
	body := spaces(size)
	if version == "" {
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head("1.1"))))
		if err != nil {
			return 0, err
		}
		req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", s.Host()
		req.Body, req.ContentLength = io.NopCloser(body), int64(size)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	c, err := s.tryDial()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if strings.Contains(header, "chunked") {
		body = io.MultiReader(strings.NewReader(fmt.Sprintf("%x\r\n", size)), body, strings.NewReader("\r\n0\r\n\r\n"))
	} else {
		header += fmt.Sprintf("Content-Length: %d\r\n", size)
	}
	if _, err := io.Copy(struct{ io.Writer }{c}, io.MultiReader(strings.NewReader(head(version)), body)); err != nil {
		return 0, err
	}
	resp, _, err := c.receive()
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}
