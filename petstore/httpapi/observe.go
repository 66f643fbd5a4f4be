package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
)

// Observation is what Options.Observe receives about a request. It contains
// nothing of a credential.
type Observation struct {
	Operation string        // the contract's name, such as "listPets", or "openapi"; "": there is none (404, 405)
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
	level, limit := slog.LevelError, &c.h.errors
	e, ok := errors.AsType[*petstore.Error](err)
	hasCause := ok && e.Err != nil
	if body.Status == http.StatusServiceUnavailable && !hasCause {
		level, limit = slog.LevelWarn, &c.h.warnings // it only asks the client to come back later
	}
	if !limit.Allow() {
		return
	}
	c.h.opts.Logger.LogAttrs(c.ctx, level, "request failed",
		slog.String("request_id", c.id.String()),
		slog.String("operation", c.seen.Operation),
		slog.String("method", c.r.Method),
		slog.String("path", request.Path(c.r)),
		slog.String("account", c.seen.Account),
		slog.Int("status", body.Status),
		slog.String("code", string(body.Code)),
		slog.Any("err", err))
}
