package benchmark

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// conn is a client's connection.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func (s *server) dial() (conn, error) {
	c, err := net.Dial("tcp", s.Host())
	return conn{c, bufio.NewReaderSize(c, 64<<10)}, err
}

// do sends a request and returns the response, which must be a success.
func (c conn) do(request []byte) (*http.Response, error) {
	if err := c.SetDeadline(time.Now().Add(process.Patience)); err != nil {
		return nil, err
	}
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("the response must be a success, got %s", resp.Status)
	}
	return resp, err
}

// load returns a benchmark: clients send the requests in turn. It reports the
// rate, the times until the end of the response, and the processor time and
// memory of the server; mapped-MB includes the pages of the file.
func (s *server) load(clients int, requests [][]byte) func(*testing.B) {
	return func(b *testing.B) {
		cpu := s.ProcessorTime()
		took, err := s.send(b.Context(), clients, b.N, requests)
		if err != nil {
			b.Fatal(err)
		}
		slices.Sort(took)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		b.ReportMetric((s.ProcessorTime()-cpu)/float64(b.N)*1e6, "cpu-µs/op")
		b.ReportMetric(took[len(took)/2], "p50-ms")
		b.ReportMetric(took[len(took)*99/100], "p99-ms")
		b.ReportMetric(s.Memory("RssAnon"), "own-MB")
		b.ReportMetric(s.Memory("VmRSS"), "mapped-MB")
	}
}

// send has clients send n requests in turn, or fewer if ctx ends. Each client
// keeps its connection and waits for a response before it sends the next request.
// It returns how long the responses took, in milliseconds.
func (s *server) send(ctx context.Context, clients, n int, requests [][]byte) (took []float64, err error) {
	var next atomic.Int64
	var mu sync.Mutex
	errs := make(chan error)
	client := func() error {
		c, err := s.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		var mine []float64
		for {
			i, before := int(next.Add(1))-1, time.Now()
			if i >= n || ctx.Err() != nil {
				break
			}
			resp, err := c.do(requests[i%len(requests)])
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				return err
			}
			mine = append(mine, time.Since(before).Seconds()*1e3)
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, mine...)
		return nil
	}
	for range clients {
		go func() { errs <- client() }()
	}
	for range clients {
		err = cmp.Or(err, <-errs)
	}
	return took, err
}
