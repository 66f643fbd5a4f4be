package httpapi

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// Observation is what Options.Observe receives about a request. It contains
// nothing of a credential. A client can send anything as Method, Path and
// UserAgent, and parts of Message.
type Observation struct {
	Operation  string        // the contract's name ("listPets", "submitMessage"), or "openapi"; "": none was reached (404, 405)
	Pattern    string        // such as "GET /pets/{petId}"; "": as above
	Method     string        // as sent
	Path       string        // as sent, unescaped, with any prefix that was stripped before the handler
	RemoteAddr string        // the address and port of the client or of the proxy before the server, as in http.Request
	UserAgent  string        // as sent; "": none
	Status     int           // of the response; 0: none was sent and the connection was closed
	Code       petstore.Code // of the Error body; "": success
	Message    string        // of the Error body; "": success
	Bytes      int           // of the response's body
	Duration   time.Duration // from the call of the handler to the end of the response
	Principal  string        // see Principal; "": no credential was accepted
	RequestID  string        // see WriteError; never empty

	// Traceparent says which trace the request is part of: the header field of
	// that name, if it is valid (W3C Trace Context). "": there is no valid one.
	Traceparent string

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
	o := Observation{
		Method:      x.r.Method,
		Path:        x.path(),
		RemoteAddr:  x.r.RemoteAddr,
		UserAgent:   x.r.UserAgent(),
		Status:      x.status,
		Code:        x.code,
		Message:     x.message,
		Bytes:       x.bytes,
		Duration:    time.Since(x.start),
		Principal:   x.principal,
		RequestID:   x.id,
		Traceparent: traceparent(x.r),
		Canceled:    x.canceled,
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
	if o.Status < http.StatusInternalServerError || x.canceled {
		return
	}
	level := slog.LevelError
	if o.Status != http.StatusInternalServerError { // temporary, or a full disk
		level = slog.LevelWarn
		if x.h.repeats.add(o, x.h.opts.Logger) {
			return
		}
	}
	x.log(level, "request failed",
		slog.Int("status", o.Status), slog.String("code", string(o.Code)), slog.Any("error", err))
}

// logPanic logs a panic with its stack.
func (x *exchange) logPanic(v any) {
	x.log(slog.LevelError, "panic in a request",
		slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
}

func (x *exchange) log(level slog.Level, msg string, attrs ...slog.Attr) {
	operation := ""
	if x.op != nil {
		operation = x.op.name
	}
	request := []slog.Attr{
		slog.String("request_id", x.id),
		slog.String("operation", operation),
		slog.String("method", x.r.Method),
		slog.String("path", x.path()),
		slog.String("principal", x.principal),
	}
	if t := traceparent(x.r); t != "" {
		request = append(request, slog.String("traceparent", t))
	}
	x.h.opts.Logger.LogAttrs(x.ctx, level, msg, append(request, attrs...)...)
}

// path returns the path that the client sent. The path of the URL may lack a
// prefix, which a router in front of the handler has stripped.
func (x *exchange) path() string {
	uri := x.r.RequestURI
	if path, _, _ := strings.Cut(uri, "?"); strings.HasPrefix(path, "/") && !strings.Contains(path, "%") {
		return path // without an allocation
	}
	if u, err := url.ParseRequestURI(uri); err == nil {
		return u.Path
	}
	return x.r.URL.Path // the request is not from a server
}

// requestIDField is in canonical form, which http.Header finds without a copy.
const requestIDField = "X-Request-Id"

// requestID returns the ID that connects a response with its log lines, and
// puts it into the response's header. It is the ID that middleware has put
// there, otherwise the client's if that is safe to log and send back, otherwise
// a random one.
func requestID(w http.ResponseWriter, r *http.Request) string {
	id := w.Header().Get(requestIDField)
	if id != "" {
		return id
	}
	if ids := r.Header.Values(requestIDField); len(ids) == 1 && saneRequestID(ids[0]) {
		id = ids[0]
	} else {
		id = rand.Text()
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

// traceparent returns the value of the request's Traceparent field, or "" if it is
// not valid (W3C Trace Context, section 3.2). It leaves out what a later version
// of the format adds.
func traceparent(r *http.Request) string {
	const form = "00-00000000000000000000000000000000-0000000000000000-00"
	fields := r.Header["Traceparent"]
	if len(fields) != 1 || len(fields[0]) < len(form) {
		return ""
	}
	value, more := fields[0][:len(form)], fields[0][len(form):]
	version, trace, parent := value[:2], value[3:35], value[36:52]
	digitsAsZero := func(c rune) rune {
		if strings.ContainsRune("0123456789abcdef", c) {
			return '0'
		}
		return c
	}
	switch {
	case strings.Map(digitsAsZero, value) != form,
		strings.Trim(trace, "0") == "", strings.Trim(parent, "0") == "",
		version == "ff", more != "" && (version == "00" || more[0] != '-'):
		return ""
	}
	return value
}
