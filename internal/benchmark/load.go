package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// loadColumns are the values of a load: CPU is the processor time of the
// server, p50 and p99 are times until the end of the response.
var loadColumns = []string{"1000 requests/s", "CPU µs/request", "p50 ms", "p99 ms"}

// conn is a client's connection.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func (s *server) dial() (conn, error) {
	c, err := net.Dial("tcp", s.addr)
	return conn{c, bufio.NewReaderSize(c, 64<<10)}, err
}

// do sends a request and returns the response, which must be a success.
func (c conn) do(request []byte) (*http.Response, error) {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
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

// load is a side: clients send requests for a while.
func (b *bench) load(name string, s *server, clients int, requests ...[]byte) side {
	return side{name, func() (result, error) { return s.send(clients, requests, b.duration) }}
}

// send has clients send requests in turn for d, or each request once if d is
// 0. Each client keeps its connection and waits for a response before it sends
// the next request. The result has the values of [loadColumns].
func (s *server) send(clients int, requests [][]byte, d time.Duration) (result, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var took []float64 // milliseconds
	cpu, start := s.processorTime(), time.Now()
	err := parallel(clients, func() error {
		c, err := s.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		var mine []float64
		for {
			i, before := int(next.Add(1))-1, time.Now()
			if d == 0 && i >= len(requests) || d > 0 && len(mine) > 0 && before.Sub(start) >= d {
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
	})
	n, seconds := float64(len(took)), time.Since(start).Seconds()
	slices.Sort(took)
	return result{n / seconds / 1e3, (s.processorTime() - cpu) / n * 1e6, quantile(took, 0.5), quantile(took, 0.99)}, err
}

// parallel runs f in n goroutines and returns one of the errors.
func parallel(n int, f func() error) (err error) {
	errs := make(chan error)
	for range n {
		go func() { errs <- f() }()
	}
	for range n {
		err = cmp.Or(err, <-errs)
	}
	return err
}
