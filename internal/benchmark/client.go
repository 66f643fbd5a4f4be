package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// runClient is the load where wrk is missing. It writes requests made
// beforehand and reads of a response what it has to, so that the servers, and
// not the client, have most of the machine.
func runClient(l load, _ io.Reader) error {
	var mu sync.Mutex
	var took []float64
	var res loaded
	var wg sync.WaitGroup
	start := time.Now()
	for i := range l.Clients {
		wg.Go(func() {
			times, err := l.keepAsking(i, start.Add(time.Duration(l.Seconds*float64(time.Second))))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, times...)
			if err != nil {
				res.Failed++
			}
		})
	}
	wg.Wait()
	res.Seconds = time.Since(start).Seconds()
	res.Requests = float64(len(took))
	slices.Sort(took)
	res.P50, res.P99 = quantile(took, 0.50), quantile(took, 0.99)
	return tell(res)
}

// keepAsking is one client: it asks for target after target until the end, and
// returns how long each answer took, in seconds. The clients start at
// different targets.
func (l load) keepAsking(client int, end time.Time) (took []float64, err error) {
	conn, err := net.DialTimeout("tcp", l.Addr, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	requests := make([][]byte, len(l.Targets))
	for i := range requests {
		requests[i] = []byte(l.text(l.Targets[i]))
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	for i := client * len(requests) / l.Clients; ; i++ {
		start := time.Now()
		if start.After(end) {
			return took, nil
		}
		_ = conn.SetReadDeadline(start.Add(patience))
		if _, err := conn.Write(requests[i%len(requests)]); err != nil {
			return took, err
		}
		if err := skipResponse(in); err != nil {
			return took, err
		}
		took = append(took, time.Since(start).Seconds())
	}
}

var (
	lengthField = []byte("Content-Length: ")
	http2xx     = []byte("HTTP/1.1 2")
)

// skipResponse reads a response that tells its length, and fails for one that
// is no success.
func skipResponse(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, http2xx) {
		return fmt.Errorf("the answer is %q", line)
	}
	length := -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, lengthField); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the answer does not tell its length")
	}
	_, err = in.Discard(length)
	return err
}
