package conformance_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// brokenRFCs are servers that violate an RFC.
func brokenRFCs() []variant {
	return []variant{
		{name: "a 201 has no Location", clause: "rfc-location", http: header(create, 201, "Location", "")},
		{name: "the Location gets 404", clause: "rfc-location", http: header(create, 201, "Location", "/v1/pets/0")},
		{name: "a 401 has no challenge", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "")},
		{name: "a 401 has a challenge for Basic", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "Basic realm=x")},
		{name: "a 401 to a message has no challenge", clause: "rfc-challenge", http: header(submit, 401, "WWW-Authenticate", "")},
		{name: "the scheme must be Bearer", clause: "rfc-scheme", http: strictScheme(list)},
		{name: "the scheme must be Bearer with a message", clause: "rfc-scheme", http: strictScheme(submit)},
		{name: "there is no Deprecation", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "")},
		{name: "the Deprecation is the word true", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "true")},
		{name: "the Deprecation is after the removal", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "@1956528000")},
		{name: "there is no Sunset", clause: "rfc-sunset", http: header(fetch, 200, "Sunset", "")},
		{name: "the Sunset is not an HTTP date", clause: "rfc-sunset", http: header(fetch, 200, "Sunset", "2030-12-05")},
	}
}

// loses drops the connection of every nth request.
func loses(n int64) wrapper {
	return func(next http.Handler) http.Handler {
		var total atomic.Int64
		return requests("", func(*http.Request) {
			if total.Add(1)%n == 0 {
				panic(http.ErrAbortHandler)
			}
		})(next)
	}
}

// waitsForBody sends no 100 Continue.
func waitsForBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") == "" {
			next.ServeHTTP(w, r)
			return
		}
		conn, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.CopyN(io.Discard, buffer, r.ContentLength)
		fmt.Fprintf(conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n%s", failure(400))
	})
}

// strictScheme accepts the scheme only as Bearer.
func strictScheme(op string) wrapper {
	return requests(op+`.*\r\nAuthorization: bearer `, func(r *http.Request) { r.Header.Del("Authorization") })
}
