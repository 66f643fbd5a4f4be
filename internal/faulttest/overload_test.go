//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load counts the responses of a load.
type load struct{ good, refused, other atomic.Int64 }

// offer sends requests on n kept connections, one after the other on each.
func offer(s *server, n int, d time.Duration, request func() string) *load {
	s.t.Helper()
	l := new(load)
	var wg sync.WaitGroup
	var ended atomic.Bool
	for range n {
		conn := s.dial()
		br := bufio.NewReader(conn)
		wg.Go(func() {
			defer conn.Close()
			for !ended.Load() {
				_ = conn.SetDeadline(time.Now().Add(patience)) // however slow the machine is
				_, _ = io.WriteString(conn, request())
				resp, err := http.ReadResponse(br, nil)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
				}
				switch {
				case err != nil:
					if l.other.Add(1) <= 3 {
						s.t.Log(err)
					}
					return
				case resp.StatusCode/100 == 2:
					l.good.Add(1)
				case resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "":
					l.refused.Add(1)
				default:
					l.other.Add(1)
				}
			}
		})
	}
	time.Sleep(d)
	ended.Store(true)
	wg.Wait()
	return l
}

// TestOverload sends requests on far more connections than the server, on one
// core, can serve at once. Each must have a response, which may be 503 with
// Retry-After, and so must the request that follows the load.
func TestOverload(t *testing.T) {
	parallel(t)
	n, _ := rounds(300, 1000)
	d := 500 * time.Millisecond
	if *full {
		d = 30 * time.Second
	}
	allowFiles(t, 10_000)
	prefix := []string{"env", "GOMAXPROCS=1"}
	if _, err := exec.LookPath("taskset"); err == nil {
		prefix = append(prefix, "taskset", "-c", "0")
	}
	s := start(t, t.TempDir(), prefix...)
	for i := range 20 {
		s.create(fmt.Sprint("pet ", i))
	}
	var created atomic.Int64
	var results []string
	for _, kind := range []struct {
		name    string
		request func() string
	}{
		{"lists", func() string { return s.raw("GET", "/pets?limit=20", "", "") }},
		{"creations", func() string { return s.raw("POST", "/pets", "", petBody(fmt.Sprint("o-", created.Add(1)))) }},
	} {
		// rate returns the successes a second, and for each second of processor
		// time, which leaves out what others use of the machine.
		rate := func(n int, d time.Duration) (*load, float64, float64) {
			began, used := time.Now(), s.processor()
			l := offer(s, n, d, kind.request)
			good := float64(l.good.Load())
			return l, good / time.Since(began).Seconds(), good / (s.processor() - used).Seconds()
		}
		_, best, cheapest := rate(64, max(d/5, 500*time.Millisecond))
		l, good, each := rate(n, d)
		began := time.Now()
		s.Must(http.StatusOK, "GET", "/pets?limit=1", "")
		if l.other.Load() > 0 || l.good.Load() == 0 {
			t.Errorf("%s: %d succeeded, %d had no response or one of another status", kind.name, l.good.Load(), l.other.Load())
		}
		if *idle && each < 0.8*cheapest {
			t.Errorf("%s: %.2f of the rate of 64 connections", kind.name, each/cheapest)
		}
		results = append(results, fmt.Sprintf("%s: %d on %d connections, %d refused with 503, 0 without a response, %.2f of the rate on 64 (%.2f by processor time), next request after %v",
			kind.name, l.good.Load(), n, l.refused.Load(), good/best, each/cheapest, time.Since(began).Round(time.Millisecond)))
	}
	s.Stop()
	report(t, "%s", strings.Join(results, "; "))
}
