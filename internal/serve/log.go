package serve

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// maxQueuedLog is how many lines of the log may wait to be written.
	maxQueuedLog = 2000

	// lastLog is how many of the last lines of the log a server that is
	// stopping still writes: they say why it stopped.
	lastLog = 50

	// flushLimit is how long a server that is stopping waits for its log to be
	// written.
	flushLimit = time.Second
)

// logQueue writes the log from its own goroutine, so that a slow reader of the
// log delays nothing else. When too much waits to be written, it drops the
// oldest lines, since the newest say how the server stopped.
type logQueue struct {
	lines   chan []byte   // nil after the last line
	dropped atomic.Int64  // lines, since the start
	done    chan struct{} // closed when all is written
}

// newLogQueue returns a queue that writes to out. form formats the line with the
// number of dropped lines.
func newLogQueue(out io.Writer, form func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{lines: make(chan []byte, maxQueuedLog), done: make(chan struct{})}
	go func() {
		defer close(q.done)
		logged := int64(0) // how many dropped lines the log reports
		for line := range q.lines {
			if line == nil {
				return
			}
			if n := q.dropped.Load(); n > logged {
				r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped: they could not be written", 0)
				r.AddAttrs(slog.Int64("lines", n-logged))
				if form(out).Handle(context.Background(), r) == nil {
					logged = n
				}
			}
			if _, err := out.Write(line); err != nil {
				q.dropped.Add(1)
			}
		}
	}()
	return q
}

// Write implements [io.Writer]. A slog.Handler calls it with one whole line at a
// time. It never blocks and never fails.
func (q *logQueue) Write(p []byte) (int, error) {
	q.drop(maxQueuedLog - 1)
	q.lines <- bytes.Clone(p)
	return len(p), nil
}

// drop drops the oldest lines until at most n wait.
func (q *logQueue) drop(n int) {
	for len(q.lines) > n {
		select {
		case <-q.lines:
			q.dropped.Add(1)
		default:
		}
	}
}

// close waits until the last lines are written, at most for flushLimit.
func (q *logQueue) close() {
	q.drop(lastLog)
	q.lines <- nil
	select {
	case <-q.done:
	case <-time.After(flushLimit):
	}
}
