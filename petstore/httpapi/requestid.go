package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
)

// requestIDField is in canonical form.
const requestIDField = "X-Request-Id"

// RequestID returns the ID that connects the response to the request of ctx with log
// lines: its X-Request-ID. ctx must be a context that a handler of this package has passed
// to the service, the [Authenticator] or Options.Validate, or one made from it; otherwise
// RequestID returns "". It is safe for concurrent use.
//
// Options.Observe receives the ID as Observation.RequestID. A middleware does not have it
// yet: it can choose the ID itself, and set X-Request-ID in the response's header before
// it calls the handler.
//
// The ID is the one in the response's header, otherwise the client's if that is safe to
// log and to send back, otherwise a random one. The response has a random ID only if it is
// an error, if there is an Options.Observe, or if RequestID was called before the response
// was sent. If it was sent without an ID, RequestID returns "".
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id(true, false)
	}
	return ""
}

// id returns the ID of the request. If there is none, and the header is not yet written, it
// makes one if create is true. If send is true, the caller writes the header.
func (c *call) id(create, send bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requestID == "" && create && !c.sent {
		c.requestID = rand.Text()
	}
	c.sent = c.sent || send
	return c.requestID
}

// sentID returns the ID that middleware has put into the response's header, otherwise the
// client's if it is safe, otherwise "". What is safe needs no quoting anywhere: letters,
// digits and the signs of UUIDs, trace IDs and base64.
func sentID(w http.ResponseWriter, r *http.Request) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+="
	if ids := w.Header()[requestIDField]; len(ids) > 0 && ids[0] != "" {
		return ids[0]
	}
	if ids := r.Header[requestIDField]; len(ids) == 1 && len(ids[0]) <= 128 && strings.Trim(ids[0], safe) == "" {
		return ids[0]
	}
	return ""
}
