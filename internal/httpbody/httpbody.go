// Package httpbody discards the bodies of requests.
package httpbody

import (
	"io"
	"net/http"
)

// Discard reads what is left of the body of a request that has its response,
// so that the response reaches a client or a proxy that is still sending.
// Otherwise net/http may close the connection, and the response is lost in the
// reset: with the defaults of nginx, one in four refused bodies of 60 kB was a
// 502. The rest of a body above 1 MiB, which nginx refuses by default, stays
// unread, and so does the body of a client that may be waiting for the response
// before it sends any.
func Discard(r *http.Request) {
	const limit = 1 << 20
	if r.Body != nil && r.ContentLength != 0 && r.ContentLength <= limit && r.Header["Expect"] == nil {
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
}
