package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"example.com/animalstore/petstore"
)

// Observation is what Options.Observe receives about a request. It holds nothing
// of a credential.
type Observation struct {
	Operation string        // the contract's name ("listPets", "submitMessage"), or "openapi"; "": none was reached (404, 405)
	Pattern   string        // such as "GET /pets/{petId}"; "": as above
	Method    string        // as sent: anything a client likes
	Path      string        // as sent, unescaped, with any prefix that was stripped before the handler: anything a client likes
	Status    int           // of the answer; 0: none was sent and the connection cut
	Code      petstore.Code // of the Error body; "": success
	Bytes     int           // of the answer's body
	Duration  time.Duration // from when the handler was called to when the answer was written
	Principal string        // see Principal; "": no credential was accepted
	RequestID string        // see WriteError; never empty

	// Canceled reports that the operation gave up because the request's
	// context was cancelled: as a rule the client went away, and the answer,
	// a 503, reached no one.
	Canceled bool
}

// observe tells Options.Observe, which cannot spoil an answer already given.
func (x *exchange) observe() {
	if x.h.opts.Observe == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			x.logPanic(v)
		}
	}()
	o := Observation{
		Method:    x.r.Method,
		Path:      x.path(),
		Status:    x.status,
		Code:      x.code,
		Bytes:     x.bytes,
		Duration:  time.Since(x.start),
		Principal: x.principal,
		RequestID: x.id,
		Canceled:  x.canceled,
	}
	if x.op != nil {
		o.Operation, o.Pattern = x.op.name, x.op.pattern
	}
	x.h.opts.Observe(x.ctx, o)
}

// logFailure logs err if its response is 500 or above, unless the request
// failed only because the client went away. A 500 is always logged, since only
// the log has its cause; of other responses that are equal, only the first is.
func (x *exchange) logFailure(err error) {
	o := outcomeOf(err)
	if o.status < http.StatusInternalServerError || x.canceled {
		return
	}
	level := slog.LevelError
	if o.status != http.StatusInternalServerError { // temporary, or a full disk
		level = slog.LevelWarn
		if x.h.repeats.add(o, x.h.opts.Logger) {
			return
		}
	}
	x.log(level, "request failed",
		slog.Int("status", o.status), slog.String("code", string(o.code)), slog.Any("error", err))
}

// logPanic logs a panic with the stack that it came from.
func (x *exchange) logPanic(v any) {
	x.log(slog.LevelError, "panic in a request",
		slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
}

func (x *exchange) log(level slog.Level, msg string, attrs ...slog.Attr) {
	operation := ""
	if x.op != nil {
		operation = x.op.name
	}
	x.h.opts.Logger.LogAttrs(x.ctx, level, msg, append([]slog.Attr{
		slog.String("request_id", x.id),
		slog.String("operation", operation),
		slog.String("method", x.r.Method),
		slog.String("path", x.path()),
		slog.String("principal", x.principal),
	}, attrs...)...)
}

// isCanceled reports whether err comes of the request's own context having
// been cancelled, which net/http does when the connection is lost.
func isCanceled(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled)
}

// path returns the path that the client sent. The path of the URL may lack a
// prefix, which a router in front of the handler has stripped.
func (x *exchange) path() string {
	if u, err := url.ParseRequestURI(x.r.RequestURI); err == nil {
		return u.Path
	}
	return x.r.URL.Path // no server has read the request
}

// requestID returns the ID that ties a response to its log lines, and puts it
// into the response's header: the one that middleware has put there, otherwise
// the client's if it is fit to be logged and sent back, otherwise a random one.
func requestID(w http.ResponseWriter, r *http.Request) string {
	h := w.Header()
	if ids := h["X-Request-Id"]; len(ids) > 0 && ids[0] != "" {
		return ids[0]
	}
	var id string
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && saneRequestID(ids[0]) {
		id = ids[0]
	} else {
		id = rand.Text()
	}
	h["X-Request-Id"] = []string{id}
	return id
}

// saneRequestID reports whether id is 1 to 128 characters that need no
// quoting anywhere: letters, digits and a few signs that UUIDs, trace IDs and
// base64 are written with.
func saneRequestID(id string) bool {
	if len(id) < 1 || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=':
		default:
			return false
		}
	}
	return true
}
