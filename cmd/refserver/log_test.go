package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// startUnread starts a server whose standard error is a pipe. It reads only the
// first line of it, which has the server's address.
func startUnread(t *testing.T, args ...string) (s *server, stderr *os.File) {
	t.Helper()
	stderr, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stderr.Close() })
	cmd := command(t.TempDir(), append([]string{"-addr=127.0.0.1:0"}, args...)...)
	cmd.Stderr = w
	s = &server{t: t, dir: cmd.Dir}
	if s.Process, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	w.Close()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(&s.Stderr, line)
	if s.Addresses, err = s.Serving(); err != nil {
		t.Fatal(err)
	}
	return s, stderr
}

// request sends n requests, each with a log line of at least 4,000 bytes, and
// returns how many were served.
func (s *server) request(n int) (served int) {
	client := &http.Client{Timeout: process.Patience}
	defer client.CloseIdleConnections()
	for i := range n {
		r, err := send(client, "GET", s.URL+"/"+strings.Repeat("x", 4000), "", "", "X-Request-ID", strconv.Itoa(i))
		if err != nil || r.status != 404 {
			s.t.Errorf("request %d: %v, %v", i, r, err)
			break
		}
		served++
	}
	return served
}

func TestLogThatNobodyReads(t *testing.T) {
	const requests = 1500 // their lines take six times what may wait to be written
	s, stderr := startUnread(t, "-access-log")
	t.Logf("%d of %d requests served", s.request(requests), requests)

	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(&s.Stderr, stderr)
		ended <- err
	}()
	notice := regexp.MustCompile(`^time=\S+ level=WARN msg="log lines dropped: they could not be written" lines=(\d+)$`)
	access := regexp.MustCompile(`^time=\S+ level=INFO msg=request request_id=(\d+) .* path=/v1/x+ .* code=not_found$`)
	logged, dropped, next := 0, 0, 0
	s.until("every request is logged or counted", func() bool {
		logged, dropped, next = 0, 0, 0
		for _, line := range strings.Split(strings.TrimSuffix(s.Stderr.String(), "\n"), "\n")[1:] {
			if m := notice.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				dropped += n
				next += n
			} else if m := access.FindStringSubmatch(line); m != nil && m[1] == fmt.Sprint(next) {
				logged++
				next++
			}
		}
		return next >= requests
	})
	t.Logf("%d lines logged, %d counted as dropped", logged, dropped)
	if dropped == 0 || logged+dropped != requests {
		t.Errorf("%d lines logged and %d dropped, of %d", logged, dropped, requests)
	}
	s.stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if log := s.Stderr.String(); !strings.HasSuffix(log, "msg=stopped\n") {
		t.Errorf("the log's end is %q", log[max(0, len(log)-200):])
	}
}

// A log that nobody reads, or whose reader is gone, keeps the server neither
// from serving nor from stopping in good order.
func TestStopWithUnreadLog(t *testing.T) {
	for name, prepare := range map[string]func(stderr *os.File){
		"unread": func(*os.File) {},
		"closed": func(stderr *os.File) { stderr.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s, stderr := startUnread(t, "-access-log")
			prepare(stderr)
			t.Logf("%d of 100 requests served", s.request(100))
			if code := s.signal(syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
