package httpapi

import (
	"io"
	"math"
	"net/http"
	"time"
)

// discardTimeout is how long DiscardBody waits for a body.
const discardTimeout = 10 * time.Second

// DiscardBody reads and discards the rest of the body of r, so that the response
// reaches a client or a proxy that is still sending. Otherwise net/http closes
// the connection, and the response is lost in the reset. DiscardBody reads at
// most four times maxBodyBytes, within ten seconds, or within the ReadTimeout of
// the [http.Server] if that is shorter. A client that sends more, or more
// slowly, is cut off. If w wraps another ResponseWriter, it must have an Unwrap
// method: see [http.ResponseController].
//
// The handlers of this package and [WriteError] do this by themselves. Any other
// handler that writes a response without having read the body can call it last.
func DiscardBody(w http.ResponseWriter, r *http.Request, maxBodyBytes int64) {
	limit := 4 * min(maxBodyBytes, math.MaxInt64/4)
	tooLarge := r.ContentLength > limit
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody || tooLarge && r.ProtoMajor > 1 { // HTTP/2 ends only the stream
		return
	}
	rc := http.NewResponseController(w)
	read, write := discardTimeout, discardTimeout+progressTimeout
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		read = shorter(read, srv.ReadTimeout)
		write = shorter(write, srv.WriteTimeout)
	}
	if rc.SetReadDeadline(time.Now().Add(read)) != nil {
		return
	}
	_ = rc.SetWriteDeadline(time.Now().Add(write)) // the end of the response is sent after the body was read
	// Some clients lose a response that arrives while they are sending. So it is
	// sent before the body is read only to clients that may be waiting for it,
	// or that will be cut off.
	if (tooLarge || r.Header["Expect"] != nil) && rc.Flush() != nil {
		return
	}
	// Beyond the limit, MaxBytesReader makes net/http close the sending side of
	// the connection, and wait a moment before it closes all of it.
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, limit))
}

// shorter returns the shorter of two timeouts. A server's of 0 or less means none.
func shorter(ours, server time.Duration) time.Duration {
	if server > 0 {
		return min(ours, server)
	}
	return ours
}
