package httpapi

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Observation is what Options.Observe receives about a request. It contains
// nothing of a credential. A client can choose parts of Message.
type Observation struct {
	Operation string        // the contract's name ("listPets", "submitMessage"), or "openapi"; "": none was reached (404, 405)
	Status    int           // of the response; 0: none was sent and the connection was closed
	Code      petstore.Code // of the Error body; "": success
	Message   string        // of the Error body; "": success
	Bytes     int           // of the response's body
	Duration  time.Duration // from the call of the handler to the end of the response
	Principal string        // see Principal; "": no credential was accepted
	RequestID string        // the X-Request-ID of the response; never empty, since every observed request has one

	// Canceled reports that the operation failed because the request's
	// context was cancelled. As a rule the client went away, and the
	// response, a 503, reached no one.
	Canceled bool
}

// observe calls Options.Observe. If that panics, the response stays as it is.
func (x *exchange) observe() {
	if x.h.opts.Observe == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			x.logPanic(v)
		}
	}()
	x.seen.Duration = time.Since(x.start)
	x.h.opts.Observe(x.r, x.seen)
}

// logFailure logs err if its response is 500 or above, unless the request
// failed only because the client went away.
func (x *exchange) logFailure(err error) {
	body := errorBodyOf(err)
	if body.Status < http.StatusInternalServerError || x.seen.Canceled || !x.h.logged.allow() {
		return
	}
	level := slog.LevelError
	if body.Status != http.StatusInternalServerError { // temporary, or a full disk
		level = slog.LevelWarn
	}
	x.log(level, "request failed",
		slog.Int("status", body.Status), slog.String("code", string(body.Code)), slog.Any("err", err))
}

// logPanic logs a panic with its stack.
func (x *exchange) logPanic(v any) {
	x.log(slog.LevelError, "panic in a request",
		slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
}

func (x *exchange) log(level slog.Level, msg string, attrs ...slog.Attr) {
	path, _, _ := strings.Cut(x.r.RequestURI, "?") // with what a router has stripped
	x.h.opts.Logger.LogAttrs(x.ctx, level, msg, append([]slog.Attr{
		slog.String("request_id", x.seen.RequestID),
		slog.String("operation", x.seen.Operation),
		slog.String("method", x.r.Method),
		slog.String("path", path),
		slog.String("principal", x.seen.Principal),
	}, attrs...)...)
}

// logLimit limits how many failed requests are logged: on a full disk, every
// change fails in the same way.
type logLimit struct {
	mu     sync.Mutex
	second time.Time
	logged int // since second
}

// allow reports whether another one may be logged.
func (l *logLimit) allow() bool {
	const perSecond = 10
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.second) >= time.Second {
		l.second, l.logged = time.Now(), 0
	}
	l.logged++
	return l.logged <= perSecond
}

// requestIDField is in canonical form, which http.Header finds without a copy.
const requestIDField = "X-Request-Id"

// requestID returns the ID that connects a response with its log lines, and
// puts it into the response's header. It is the ID that middleware has put
// there, otherwise the client's if that is safe to log and send back, otherwise
// a random one or, unless it is needed, "".
func requestID(w http.ResponseWriter, r *http.Request, needed bool) string {
	id := w.Header().Get(requestIDField)
	if id != "" {
		return id
	}
	if ids := r.Header[requestIDField]; len(ids) == 1 && saneRequestID(ids[0]) {
		id = ids[0]
	} else if needed {
		id = rand.Text()
	} else {
		return ""
	}
	w.Header().Set(requestIDField, id)
	return id
}

// saneRequestID reports whether id is 1 to 128 characters that never need
// quoting: letters, digits and the signs of UUIDs, trace IDs and base64.
func saneRequestID(id string) bool {
	const sane = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+="
	return len(id) >= 1 && len(id) <= 128 && strings.Trim(id, sane) == ""
}
