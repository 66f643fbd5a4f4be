package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// DefaultMaxResponseBytes is how many bytes of large responses may be in
// flight at once, unless [Options] set another limit.
const DefaultMaxResponseBytes = 32 << 20

// largeBytes is the size above which a response is large: it is counted while
// it is in flight, and written in parts of this size.
const largeBytes = 64 << 10

// progressTimeout is how long a client may read nothing of a response.
const progressTimeout = 10 * time.Second

// inFlight is how many bytes of memory the large responses in flight take. It
// counts those of all handlers, since they share the memory of the process.
var inFlight atomic.Int64

// ResponseBytesInFlight returns how many bytes of memory the responses larger
// than 64 KiB take that are being sent, by all handlers in the process together:
// see [Options.MaxResponseBytes].
func ResponseBytesInFlight() int64 { return inFlight.Load() }

var errInFlight = petstore.Errorf(petstore.CodeUnavailable, "too many large responses are being sent; try again later")

// building limits how many lists are built at once while large responses are in
// flight, since each is counted only once it is built.
var building = make(chan struct{}, 16)

// startBuilding waits until a list may be built. The caller must call built
// once it is.
func startBuilding(ctx context.Context) (built func(), err error) {
	if inFlight.Load() == 0 {
		return func() {}, nil
	}
	select {
	case building <- struct{}{}:
		return func() { <-building }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reserve counts body as in flight until the end of the exchange. body is the
// response or about as long. reserve fails if other responses have reached the
// limit.
func (x *exchange) reserve(body []byte) error {
	if len(body) <= largeBytes {
		return nil
	}
	n := int64(cap(body))
	if inFlight.Add(n)-n >= x.h.opts.MaxResponseBytes {
		inFlight.Add(-n)
		return errInFlight
	}
	x.reserved = n
	return nil
}

// jsonType is shared by all responses, which saves an allocation for each.
var jsonType = []string{"application/json"}

// writeResponse sends a whole response, and returns the number of body bytes
// written. net/http sets Content-Length by itself for small bodies only, and
// never for HEAD.
func writeResponse(w http.ResponseWriter, r *http.Request, resp response) (n int) {
	if resp.body != nil {
		w.Header()["Content-Type"] = jsonType
		w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
	}
	w.WriteHeader(resp.status)
	if r.Method == http.MethodHead {
		return 0
	}
	return writeBody(w, r, resp.body)
}

// writeBody writes the body of a response and returns the number of bytes
// written. It ignores errors: a failed write means that the client is gone.
//
// A client that does not read holds a response for as long as the server's
// WriteTimeout allows, or forever. So the client must take each part of a large
// response within progressTimeout. Over HTTP/2 this holds for every response,
// since the system buffers nothing that exceeds a stream's window.
func writeBody(w http.ResponseWriter, r *http.Request, body []byte) (n int) {
	if len(body) <= largeBytes && r.ProtoMajor < 2 {
		n, _ = w.Write(body)
		return n
	}
	controller := http.NewResponseController(w)
	var end time.Time // by the server's WriteTimeout, whose deadline ours replace
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		end = time.Now().Add(srv.WriteTimeout)
	}
	for part := range slices.Chunk(body, largeBytes) {
		deadline := time.Now().Add(progressTimeout)
		if !end.IsZero() && end.Before(deadline) {
			deadline = end
		}
		_ = controller.SetWriteDeadline(deadline) // fails if w has none; the server's timeout still holds
		written, err := w.Write(part)
		n += written
		if err != nil {
			break
		}
	}
	return n
}
