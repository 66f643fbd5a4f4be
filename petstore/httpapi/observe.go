package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Observation is what Options.Observe receives about a request. It contains
// nothing of a credential.
type Observation struct {
	Operation string        // the contract's name ("listPets", "submitMessage"), or "openapi"; "": none was reached (404, 405)
	Status    int           // of the response; 0: none was sent and the connection was closed
	Code      petstore.Code // of the Error body; "": success
	Duration  time.Duration // from the call of the handler to the end of the response
	Principal string        // see Principal; "": no credential was accepted
}

// log logs err, whose response has body. It does not log the query, which may hold
// secrets.
func (x *exchange) log(body errorBody, err error) {
	if !x.h.logged.allow() {
		return
	}
	level := slog.LevelError
	if body.Status != http.StatusInternalServerError { // temporary, or a full disk
		level = slog.LevelWarn
	}
	path, _, _ := strings.Cut(x.r.RequestURI, "?") // with what a router has stripped
	x.h.opts.Logger.LogAttrs(x.ctx, level, "request failed",
		slog.String("request_id", x.requestID),
		slog.String("operation", x.operation),
		slog.String("method", x.r.Method),
		slog.String("path", path),
		slog.String("principal", x.principal),
		slog.Int("status", body.Status),
		slog.String("code", string(body.Code)),
		slog.Any("err", err))
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
