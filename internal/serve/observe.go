package serve

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"

	"example.com/animalstore/petstore/httpapi"
)

// observer returns the hook that is called after every request. It returns nil
// if requests are neither logged nor counted.
func (s *server) observer() func(context.Context, httpapi.Observation) {
	if !s.accessLog && s.admin == nil {
		return nil
	}
	return func(ctx context.Context, o httpapi.Observation) {
		s.responses.add(o.Status)
		if s.accessLog {
			logAccess(ctx, s.log, o)
		}
	}
}

// logAccess logs one line for a request. The line has the path of the URL but
// not the query, which may hold secrets.
func logAccess(ctx context.Context, log *slog.Logger, o httpapi.Observation) {
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs,
		slog.String("request_id", o.RequestID),
		slog.String("remote", o.RemoteAddr),
		slog.String("principal", o.Principal),
		slog.String("method", o.Method),
		slog.String("path", o.Path),
		slog.Int("status", o.Status),
		slog.Int("bytes", o.Bytes),
		slog.Float64("duration_ms", float64(o.Duration.Microseconds())/1000))
	if o.Code != "" {
		attrs = append(attrs, slog.String("code", string(o.Code)))
	}
	if o.Canceled {
		attrs = append(attrs, slog.Bool("canceled", true))
	}
	log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// responses counts responses by the first digit of the status; 0: a connection
// was cut without one.
type responses [6]atomic.Int64

func (c *responses) add(status int) {
	if class := status / 100; class < len(c) {
		c[class].Add(1)
	}
}

// byClass returns the counts by class of status: "2xx" and so on.
func (c *responses) byClass() map[string]int64 {
	m := map[string]int64{"none": c[0].Load()}
	for i := 1; i < len(c); i++ {
		m[strconv.Itoa(i)+"xx"] = c[i].Load()
	}
	return m
}

// untilFailed logs nothing once the store has failed: every request is refused
// for the reason in the server's last line.
type untilFailed struct {
	slog.Handler
	failed <-chan struct{}
}

// Enabled implements [slog.Handler].
func (h untilFailed) Enabled(ctx context.Context, level slog.Level) bool {
	select {
	case <-h.failed:
		return false
	default:
		return h.Handler.Enabled(ctx, level)
	}
}
