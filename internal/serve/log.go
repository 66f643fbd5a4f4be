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
	lines   []byte // still to be written
	dropped int    // how many lines before these were dropped

	wake, quit, done chan struct{}
}

func newLogQueue(out io.Writer, form func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{out: out, form: form, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go q.run()
	return q
}

// Write implements io.Writer. It takes whole lines, never blocks and never
// fails.
func (q *logQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	if len(q.lines)+len(p) > maxQueuedLog {
		q.dropped += bytes.Count(q.lines, []byte("\n"))
		q.lines = q.lines[:0]
	}
	q.lines = append(q.lines, p...)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default: // run will wake up already
	}
	return len(p), nil
}

// close waits until the last lines are written, at most for flushLimit.
func (q *logQueue) close() {
	close(q.quit)
	select {
	case <-q.done:
	case <-time.After(flushLimit):
	}
}

func (q *logQueue) run() {
	defer close(q.done)
	var lines []byte
	lost := 0 // lines dropped or not written since logLost last logged them
	for more := true; more; {
		select {
		case <-q.wake:
		case <-q.quit:
			more = false
		}
		q.mu.Lock()
		lines, q.lines = q.lines, lines[:0]
		lost, q.dropped = lost+q.dropped, 0
		q.mu.Unlock()
		rest := len(lines)
		for line := range bytes.Lines(lines) {
			rest -= len(line)
			if rest > lastLog && q.closing() {
				lost++
				continue
			}
			if lost > 0 && q.logLost(lost) == nil {
				lost = 0
			}
			if _, err := q.out.Write(line); err != nil {
				lost++
			}
		}
	}
}

// closing reports whether close was called.
func (q *logQueue) closing() bool {
	select {
	case <-q.quit:
		return true
	default:
		return false
	}
}

// logLost logs how many lines were lost.
func (q *logQueue) logLost(n int) error {
	r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped: they could not be written", 0)
	r.AddAttrs(slog.Int("lines", n))
	return q.form(q.out).Handle(context.Background(), r)
}
