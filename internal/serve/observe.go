package serve

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"example.com/animalstore/petstore/httpapi"
)

// observer returns the hook that is called for every request, nil if requests
// are neither logged nor counted.
func (s *server) observer() func(context.Context, httpapi.Observation) {
	access, count := s.config.accessLog, s.admin != nil
	if !access && !count {
		return nil
	}
	return func(ctx context.Context, o httpapi.Observation) {
		s.counters.answer(o.Status)
		if access {
			logAccess(ctx, s.log, o)
		}
	}
}

// remoteKey is the context key of a connection's remote address, which is
// there if requests are logged.
type remoteKey struct{}

func withRemote(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, remoteKey{}, c.RemoteAddr().String())
}

// logAccess logs one line for a request. The line has the path of the URL but
// not the query, which may hold secrets.
func logAccess(ctx context.Context, log *slog.Logger, o httpapi.Observation) {
	remote, _ := ctx.Value(remoteKey{}).(string)
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs,
		slog.String("request_id", o.RequestID),
		slog.String("remote", remote),
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

// counters count answers and connections, for /debug/vars.
type counters struct {
	answers     [6]atomic.Int64 // by the first digit of the status; 0: none sent
	connections atomic.Int64    // open now
}

func (c *counters) answer(status int) {
	if class := status / 100; class < len(c.answers) {
		c.answers[class].Add(1)
	}
}

// byClass returns the answers by class of status: "2xx" and so on.
func (c *counters) byClass() map[string]int64 {
	m := map[string]int64{"none": c.answers[0].Load()}
	for i := 1; i < len(c.answers); i++ {
		m[strconv.Itoa(i)+"xx"] = c.answers[i].Load()
	}
	return m
}

// connection is an http.Server's ConnState hook.
func (c *counters) connection(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.connections.Add(1)
	case http.StateActive:
		if t, ok := conn.(*tls.Conn); ok {
			conn = t.NetConn()
		}
		conn.(*deadlineConn).requested.Store(true)
	case http.StateClosed, http.StateHijacked:
		c.connections.Add(-1)
	}
}

// untilFailed keeps quiet once the store has failed: every request is refused
// for the reason that the server's last line gives.
type untilFailed struct {
	slog.Handler
	failed <-chan struct{}
}

// Enabled implements slog.Handler.
func (h untilFailed) Enabled(ctx context.Context, level slog.Level) bool {
	select {
	case <-h.failed:
		return false
	default:
		return h.Handler.Enabled(ctx, level)
	}
}
