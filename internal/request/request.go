// Package request has what every handler of the project does with a request.
package request

import (
	"io"
	"net/http"
	"strings"
)

// Discard reads what is left of the body of a request that has its response,
// so that the response reaches a client or a proxy that is still sending.
// Otherwise net/http may close the connection, and the response is lost in the
// reset: nginx responds with 502. The rest of a body above 1 MiB, which nginx
// refuses by default, stays unread, and so does the body of a client that may be
// waiting for the response before it sends any.
func Discard(r *http.Request) {
	const limit = 1 << 20
	if r.Body != nil && r.ContentLength != 0 && r.ContentLength <= limit && r.Header["Expect"] == nil {
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
}

// Path returns the path of a request as it was sent, for the log: with what a router has
// stripped, and without what may hold a secret, the query and the userinfo of a target in
// absolute or authority form (RFC 9112, section 3.2).
func Path(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if path == "*" || strings.HasPrefix(path, "/") {
		return path
	}
	_, path, _ = strings.Cut(path, "://")
	_, path, _ = strings.Cut(path, "/")
	return "/" + path
}
