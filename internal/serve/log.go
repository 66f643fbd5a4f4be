package serve

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// maxQueuedLog is how many bytes of the log may wait to be written.
	maxQueuedLog = 1 << 20

	// lastLog is how many of the last bytes of the log a server that is
	// stopping still writes: they say why it stopped.
	lastLog = 16 << 10

	// flushLimit is how long a server that is stopping waits for its log to be
	// written.
	flushLimit = time.Second
)

// logQueue writes the log from its own goroutine, so that a slow reader of the
// log delays nothing else. When too much waits to be written, it drops the
// oldest lines, since the newest say how the server stopped.
type logQueue struct {
	out  io.Writer
	form func(io.Writer) slog.Handler // formats the line with the number of dropped lines

	mu      sync.Mutex
	more    sync.Cond // signaled by Write and close
	lines   []byte    // still to be written
	dropped int       // how many lines before these were dropped
	closed  bool
	done    chan struct{}
}

func newLogQueue(out io.Writer, form func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{out: out, form: form, done: make(chan struct{})}
	q.more.L = &q.mu
	go q.run()
	return q
}

// Write implements [io.Writer]. It takes whole lines, never blocks and never
// fails.
func (q *logQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines)+len(p) > maxQueuedLog {
		q.drop(len(q.lines))
	}
	q.lines = append(q.lines, p...)
	q.more.Signal()
	return len(p), nil
}

// drop drops the lines that start in the first n bytes.
func (q *logQueue) drop(n int) {
	for n > 0 {
		end := bytes.IndexByte(q.lines, '\n') + 1
		q.lines = q.lines[end:]
		q.dropped++
		n -= end
	}
}

// close waits until the last lines are written, at most for flushLimit.
func (q *logQueue) close() {
	q.mu.Lock()
	q.drop(len(q.lines) - lastLog)
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(flushLimit):
	}
}

func (q *logQueue) run() {
	defer close(q.done)
	var line []byte
	lost := 0 // lines dropped or not written since logLost last logged them
	for {
		q.mu.Lock()
		for len(q.lines) == 0 && !q.closed {
			q.more.Wait()
		}
		end := bytes.IndexByte(q.lines, '\n') + 1
		line = append(line[:0], q.lines[:end]...)
		q.lines = q.lines[end:]
		lost, q.dropped = lost+q.dropped, 0
		q.mu.Unlock()
		if end == 0 {
			return // closed, and all is written
		}
		if lost > 0 && q.logLost(lost) == nil {
			lost = 0
		}
		if _, err := q.out.Write(line); err != nil {
			lost++
		}
	}
}

// logLost logs how many lines were lost.
func (q *logQueue) logLost(n int) error {
	r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped: they could not be written", 0)
	r.AddAttrs(slog.Int("lines", n))
	return q.form(q.out).Handle(context.Background(), r)
}
