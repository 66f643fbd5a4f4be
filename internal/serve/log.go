package serve

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// logWriter writes the lines of the log from its own goroutine, so that a log that
// nobody reads stops nothing else. It drops what exceeds its queue.
type logWriter struct {
	lines   chan []byte   // a nil line follows the last one
	dropped atomic.Int64  // lines, since the start
	done    chan struct{} // closed when all is written
}

func newLogWriter(out io.Writer) *logWriter {
	l := &logWriter{lines: make(chan []byte, 2000), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			if line == nil {
				return
			}
			if _, err := out.Write(line); err != nil {
				l.dropped.Add(1)
			}
		}
	}()
	return l
}

// Write implements [io.Writer]. A slog.Handler calls it with one whole line at a
// time. It never blocks and never fails.
func (l *logWriter) Write(p []byte) (int, error) {
	select {
	case l.lines <- bytes.Clone(p):
	default:
		l.dropped.Add(1)
	}
	return len(p), nil
}

// close waits until all lines are written, for at most a second.
func (l *logWriter) close() {
	end := time.After(time.Second)
	select {
	case l.lines <- nil:
	case <-end:
		return
	}
	select {
	case <-l.done:
	case <-end:
	}
}

// logRequest logs one line for a request. The line has the path but not the query,
// which may hold secrets, and at most 500 bytes of what a client can make long.
func logRequest(log *slog.Logger, r *http.Request, o httpapi.Observation) {
	short := func(s string) string { return s[:min(len(s), 500)] }
	path, _, _ := strings.Cut(r.RequestURI, "?")
	attrs := []slog.Attr{
		slog.String("request_id", o.RequestID),
		slog.String("remote", r.RemoteAddr),
		slog.String("principal", o.Principal),
		slog.String("method", short(r.Method)),
		slog.String("path", short(path)),
		slog.Int("status", o.Status),
		slog.Int("bytes", o.Bytes),
		slog.Float64("duration_ms", float64(o.Duration.Microseconds())/1000),
	}
	if o.Code != "" {
		attrs = append(attrs, slog.String("code", string(o.Code)))
	}
	if o.Canceled {
		attrs = append(attrs, slog.Bool("canceled", true))
	}
	log.LogAttrs(r.Context(), slog.LevelInfo, "request", attrs...)
}

// refuse responds with err to a request for something other than the contract's
// operations, and logs the cause of a 500 or 507.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	httpapi.WriteError(w, r, err)
	if code := petstore.CodeOf(err); code == petstore.CodeInternal || code == petstore.CodeFull {
		s.log.Error("request failed", "request_id", w.Header().Get("X-Request-ID"), "method", r.Method, "path", r.URL.Path, "err", err)
	}
}
