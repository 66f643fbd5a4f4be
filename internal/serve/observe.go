package serve

import (
	"log/slog"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// observer returns the hook that is called after every request. It returns nil if
// requests are not logged and there is no admin address that shows the counters.
func (s *server) observer() func(*http.Request, httpapi.Observation) {
	if !s.accessLog && s.admin == nil {
		return nil
	}
	return func(r *http.Request, o httpapi.Observation) {
		s.counters.request(o)
		if s.accessLog {
			logAccess(s.log, r, o)
		}
	}
}

// maxLogged is how many bytes of a method or a path are logged. A client can
// make them long, and lines that wait to be written take memory.
const maxLogged = 500

// logAccess logs one line for a request. The line has the path of the URL but
// not the query, which may hold secrets.
func logAccess(log *slog.Logger, r *http.Request, o httpapi.Observation) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	attrs := make([]slog.Attr, 0, 11)
	attrs = append(attrs,
		slog.String("request_id", o.RequestID),
		slog.String("remote", r.RemoteAddr),
		slog.String("principal", o.Principal),
		slog.String("method", r.Method[:min(len(r.Method), maxLogged)]),
		slog.String("path", path[:min(len(path), maxLogged)]),
		slog.Int("status", o.Status),
		slog.Int("bytes", o.Bytes),
		slog.Float64("duration_ms", float64(o.Duration.Microseconds())/1000))
	if o.Code != "" {
		attrs = append(attrs, slog.String("code", string(o.Code)))
	}
	if o.Canceled {
		attrs = append(attrs, slog.Bool("canceled", true))
	}
	log.LogAttrs(r.Context(), slog.LevelInfo, "request", attrs...)
}

// refuse responds with err to a request for something else than the contract's operations,
// and logs the cause of a 500 or 507.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	httpapi.WriteError(w, r, err)
	if code := petstore.CodeOf(err); code == petstore.CodeInternal || code == petstore.CodeFull {
		s.log.Error("request failed", "request_id", w.Header().Get("X-Request-ID"), "method", r.Method, "path", r.URL.Path, "error", err)
	}
}
