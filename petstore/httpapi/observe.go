package httpapi

import (
	"errors"
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
	Bytes     int           // of the response's body
	Duration  time.Duration // from the call of the handler to the end of the response
	Account   string        // for which the request was made; "": no credential was accepted
	RequestID string        // the X-Request-ID of the response
}

// log logs err, whose response has body. It does not log the query, which may hold
// secrets.
func (c *call) log(body errorBody, err error) {
	level, limit := slog.LevelWarn, &c.h.warnings
	begins := c.outageBegins(body, err)
	if begins || body.Status == http.StatusInternalServerError {
		level, limit = slog.LevelError, &c.h.errors
	}
	if !limit.allow() && !begins {
		return
	}
	path, _, _ := strings.Cut(c.r.RequestURI, "?") // with what a router has stripped
	c.h.opts.Logger.LogAttrs(c.ctx, level, "request failed",
		slog.String("request_id", c.id(true, false)),
		slog.String("operation", c.operation),
		slog.String("method", c.r.Method),
		slog.String("path", path),
		slog.String("account", c.account),
		slog.Int("status", body.Status),
		slog.String("code", string(body.Code)),
		slog.Any("err", err))
}

// outage is a time in which the store has no room, or the store or the credentials cannot
// be used. It is over when a request succeeds, a creation if there was no room, and nothing
// has failed for calm.
type outage struct {
	full bool      // a failure was for want of room
	last time.Time // of the last failure
}

// calm keeps an outage in which some requests succeed from being logged as many.
const calm = 10 * time.Second

// outageBegins reports whether err, whose response has body, is the first of an outage. A
// 503 without a cause only asks the client to come back later.
func (c *call) outageBegins(body errorBody, err error) bool {
	e, ok := errors.AsType[*petstore.Error](err)
	full := body.Status == http.StatusInsufficientStorage
	lost := body.Status == http.StatusServiceUnavailable && ok && e.Err != nil
	if !full && !lost {
		return false
	}
	before := c.h.outage.Load()
	c.h.outage.Store(&outage{full || before != nil && before.full, time.Now()})
	return before == nil
}

// succeeded ends an outage, if there is one. A request without an account shows nothing:
// it is for the OpenAPI document.
func (c *call) succeeded() {
	o := c.h.outage.Load()
	if o == nil || time.Since(o.last) < calm || o.full && c.r.Method != http.MethodPost || c.account == "" {
		return
	}
	if c.h.outage.CompareAndSwap(o, nil) {
		c.h.opts.Logger.LogAttrs(c.ctx, slog.LevelInfo, "requests succeed again", slog.String("operation", c.operation))
	}
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
