//go:build linux

package faulttest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is what a generator sends, and what it was answered.
type load struct {
	sent, good, refused, other atomic.Int64
	unsent                     atomic.Int64 // no connection was free
}

// line is a kept connection of the generator.
type line struct {
	conn net.Conn
	br   *bufio.Reader
}

// exchange sends a request and reads the answer, with as little work as can
// be: the generator has one core.
func (l *line) exchange(request []byte, into *load) error {
	_ = l.conn.SetDeadline(time.Now().Add(patience))
	if _, err := l.conn.Write(request); err != nil {
		return err
	}
	status, length, retry := 0, 0, false
	for {
		b, err := l.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch {
		case status == 0:
			status, _ = strconv.Atoi(string(b[9:12]))
		case bytes.HasPrefix(b, []byte("Content-Length: ")):
			length, _ = strconv.Atoi(string(bytes.TrimSpace(b[16:])))
		case bytes.HasPrefix(b, []byte("Retry-After: ")):
			retry = true
		}
		if len(b) == 2 {
			break
		}
	}
	if _, err := l.br.Discard(length); err != nil {
		return err
	}
	switch {
	case status == 200 || status == 201:
		into.good.Add(1)
	case status == 503 && retry:
		into.refused.Add(1)
	default:
		into.other.Add(1)
	}
	return nil
}

// lines opens connections to the server.
func lines(t *testing.T, s *server, n int) chan *line {
	t.Helper()
	free := make(chan *line, n)
	for range n {
		conn, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		free <- &line{conn: conn, br: bufio.NewReader(conn)}
	}
	return free
}

// offer sends so many requests a second, whether or not those before have been
// answered, over as many connections as are free. Rate 0: as many as eight
// callers can have answered one after the other.
func offer(t *testing.T, free chan *line, rate float64, d time.Duration, request func(i int64) []byte) *load {
	t.Helper()
	l := new(load)
	var wg sync.WaitGroup
	one := func(c *line, i int64) {
		l.sent.Add(1)
		if err := c.exchange(request(i), l); err != nil {
			l.other.Add(1)
			return
		}
		free <- c
	}
	began := time.Now()
	if rate == 0 {
		for range 64 {
			wg.Go(func() {
				for time.Since(began) < d {
					one(<-free, l.sent.Load())
				}
			})
		}
		wg.Wait()
		return l
	}
	work := make(chan int64, cap(free)) // so that the generator keeps them all busy
	for range cap(free) {
		wg.Go(func() {
			for i := range work {
				one(<-free, i)
			}
		})
	}
	for i := int64(0); time.Since(began) < d; {
		due := int64(time.Since(began).Seconds() * rate)
		for ; i < due; i++ {
			select {
			case work <- i:
			default:
				l.unsent.Add(1)
			}
		}
		time.Sleep(time.Millisecond)
	}
	close(work)
	wg.Wait()
	return l
}

// TestOverload offers five times what the server can do, creations and lists,
// with the server on one core and the generator on the other.
func TestOverload(t *testing.T) {
	n, _ := times(t, 300, 1000)
	d := 500 * time.Millisecond
	if *full {
		d = 30 * time.Second
	}
	raiseLimit(t, 10_000)
	before := []string{"env", "GOMAXPROCS=1"}
	if _, err := exec.LookPath("taskset"); err == nil {
		before = append(before, "taskset", "-c", "0")
	}
	s := start(t, t.TempDir(), before...)
	for i := range 100 {
		s.must(201, "POST", "/pets", petBody(fmt.Sprint("pet ", i)))
	}
	kinds := map[string]func(i int64) []byte{
		"lists": func(int64) []byte {
			return fmt.Appendf(nil, "GET /v1/pets?limit=20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", s.key)
		},
		"creations": func(i int64) []byte {
			body := petBody(fmt.Sprint("o-", i))
			return fmt.Appendf(nil, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.key, len(body), body)
		},
	}
	free := lines(t, s, n)
	for _, name := range []string{"lists", "creations"} {
		request := kinds[name]
		best, cheapest := 0.0, 0.0
		for range 3 {
			spent, part := s.processor(), max(d/10, 300*time.Millisecond)
			l := offer(t, free, 0, part, request)
			best = max(best, float64(l.good.Load())/part.Seconds())
			cheapest = max(cheapest, float64(l.good.Load())/(s.processor()-spent).Seconds())
		}
		memory, spent := s.status("VmRSS"), s.processor()
		l := offer(t, free, 5*best, d, request)
		goodput := float64(l.good.Load()) / d.Seconds()
		each := float64(l.good.Load()) / (s.processor() - spent).Seconds()
		most := s.status("VmHWM")
		began := time.Now()
		if _, err := s.send(oneShot, "GET", "/pets?limit=1", ""); err != nil {
			t.Error(err)
		}
		recovered := time.Since(began)
		t.Logf("%s: %.0f a second at best; offered %.0f: sent %.0f, answered well %.0f (%.2f of the best; %.2f for each second that the server had of a processor), refused with 503 and Retry-After %d, otherwise %d; memory %d MB, %d MB at most; the next request took %v",
			name, best, 5*best, float64(l.sent.Load())/d.Seconds(), goodput, goodput/best, each/cheapest, l.refused.Load(), l.other.Load(), memory>>10, most>>10, recovered.Round(time.Millisecond))
		if l.other.Load() > 0 || goodput == 0 {
			t.Errorf("%s: %d requests were answered otherwise or not at all", name, l.other.Load())
		}
		// What others on the machine, and the generator, take of it is no
		// fault of the server's.
		if *full && each < 0.8*cheapest {
			t.Errorf("%s: %.2f of the best", name, each/cheapest)
		}
	}
	s.stop()
}

// processor returns how much time the server has had of a processor.
func (s *server) processor() time.Duration {
	s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Pid()))
	if err != nil {
		s.t.Fatal(err)
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 1/100 s
}
