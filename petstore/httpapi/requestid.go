package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// requestIDField is in canonical form.
const requestIDField = "X-Request-Id"

// RequestID returns the ID that connects the response to the request of ctx with log
// lines: its X-Request-ID. ctx must be a context that a handler of this package has passed
// to the service, the [Authenticator] or Options.Validate, or one made from it; otherwise
// RequestID returns "".
//
// Options.Observe receives the ID as Observation.RequestID. A middleware can choose it: it
// sets X-Request-ID in the response's header before it calls the handler. Otherwise the ID is
// that of the request if it is safe to log and to send back, and otherwise a random one, which
// the response has only if it is an error, or if there is an Options.Observe.
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id
	}
	return ""
}

// requestID returns the ID in the response's header, otherwise that of the request if it is
// safe, otherwise a random one. A safe ID has only letters, digits and the signs of UUIDs, trace
// IDs and base64.
func requestID(w http.ResponseWriter, r *http.Request) (id string, random bool) {
	if ids := w.Header()[requestIDField]; len(ids) > 0 && ids[0] != "" {
		return ids[0], false
	}
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+="
	if ids := r.Header[requestIDField]; len(ids) == 1 {
		if id := ids[0]; 0 < len(id) && len(id) <= 128 && strings.Trim(id, safe) == "" {
			return id, false
		}
	}
	return strconv.FormatUint(rand.Uint64(), 36), true
}
