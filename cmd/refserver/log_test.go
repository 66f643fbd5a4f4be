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
	"testing"

	"example.com/animalstore/internal/process"
)

// startUnread starts a server whose standard error is a pipe. It reads only the
// first line, which has the address.
func startUnread(t *testing.T) (s *server, stderr *os.File) {
	t.Helper()
	stderr, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stderr.Close() })
	cmd := command(t.TempDir(), "-access-log")
	cmd.Stderr = w
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(&p.Stderr, line)
	served, err := process.Attach(t, p)
	if err != nil {
		t.Fatal(err)
	}
	served.Client = &http.Client{Timeout: process.Patience} // keeps its connection
	return &server{served, t}, stderr
}

// request sends n requests, each with a log line of at least 4,000 bytes.
func (s *server) request(n int) {
	s.t.Helper()
	defer s.Client.CloseIdleConnections()
	for i := range n {
		r, err := s.Send("GET", "/"+strings.Repeat("x", 4000), "", "X-Request-ID", strconv.Itoa(i))
		if err != nil || r.Status != 404 {
			s.t.Fatalf("request %d of %d: %d, %v", i, n, r.Status, err)
		}
	}
}

// A log that is read late has every line, or the number of those dropped.
func TestLogReadLate(t *testing.T) {
	t.Parallel()
	const requests = 1500 // their lines are six times as long as the queue
	s, stderr := startUnread(t)
	s.request(requests)

	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(&s.Stderr, stderr)
		ended <- err
	}()
	notice := regexp.MustCompile(`^time=\S+ level=WARN msg="log lines dropped: they could not be written" lines=(\d+)$`)
	access := regexp.MustCompile(`^time=\S+ level=INFO msg=request request_id=(\d+) .* path=/v1/x+ .* code=not_found$`)
	logged, dropped, next := 0, 0, 0
	s.Until("every request is logged or counted", func() bool {
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
	s.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if log := s.Stderr.String(); !strings.HasSuffix(log, "msg=stopped\n") {
		t.Errorf("the log's end is %q", log[max(0, len(log)-200):])
	}
}

// A server serves and stops even if nobody reads its log or the reader is gone.
func TestStopWithUnreadLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unread", "closed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, stderr := startUnread(t)
			if name == "closed" {
				stderr.Close()
			}
			s.request(100)
			s.Stop()
		})
	}
}
