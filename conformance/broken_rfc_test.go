package conformance_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"example.com/animalstore/conformance"
)

// brokenRFCs are servers that violate an RFC.
func brokenRFCs() []variant {
	return []variant{
		{name: "HEAD gets 405", clause: "rfc-head", http: status("^HEAD /v1/pets[? ]", 200, 405)},
		{name: "HEAD needs no key", clause: "rfc-head", http: status("^HEAD /v1/pets[? ]", 401, 200)},
		{name: "HEAD gets the body of GET", clause: "rfc-head-content", http: where("^HEAD ", writes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"))},
		{name: "a HEAD that is refused gets a body", clause: "rfc-head-content", http: where("^HEAD /v1/pets/[0-9]{19} ", writes("HTTP/1.1 404 Not Found\r\n\r\nnot found"))},
		{name: "HEAD has a length of 0", clause: "rfc-head-content", http: where("^HEAD ", writes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))},
		{name: "the Date is in ISO 8601", clause: "rfc-date", http: header("", 0, "Date", "2026-11-22T18:00:00Z")},
		{name: "the Date is of an obsolete form", clause: "rfc-date", http: header(list, 200, "Date", "Sunday, 22-Nov-26 18:00:00 GMT")},
		{name: "the Date is on another day of the week", clause: "rfc-date", http: header(list, 200, "Date", "Mon, 22 Nov 2026 18:00:00 GMT")},
		{name: "a chunked response has a length", clause: "rfc-length", http: where("^GET ", writes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n[]\r\n0\r\n\r\n"))},
		{name: "a response has two lengths", clause: "rfc-length", http: where(`^GET /v1/pets\?limit=1 .*Connection: close`, writes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]"))},
		{name: "a response to HTTP/1.0 is chunked", clause: "rfc-version", http: where("^GET .* HTTP/1.0\r", writes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n"))},
		{name: "a connection is kept that should be closed", clause: "rfc-close", opts: conformance.Options{Transport: deaf}},
		{name: "every fifth request is lost", clause: "rfc-response", http: loses(5), opts: conformance.Options{Transport: &http.Transport{DisableKeepAlives: true}}},
		{name: "different lists have the same strong ETag", clause: "rfc-etag", http: header(list, 200, "ETag", `"x"`)},
		{name: "an expectation gets nothing", clause: "rfc-expect", http: waitsForBody},
		{name: "a 201 has no Location", clause: "rfc-location", http: header(create, 201, "Location", "")},
		{name: "the Location gets 404", clause: "rfc-location", http: header(create, 201, "Location", "/v1/pets/0")},
		{name: "a 405 has no Allow", clause: "rfc-allow", http: header("^PUT /v1/pets/", 405, "Allow", "")},
		{name: "an unsupported method gets 404", clause: "rfc-allow", http: status("^PUT /v1/pets/", 405, 404)},
		{name: "a 401 has no challenge", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "")},
		{name: "a 401 has a challenge for Basic", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "Basic realm=x")},
		{name: "a 401 to a message has no challenge", clause: "rfc-challenge", http: header(submit, 401, "WWW-Authenticate", "")},
		{name: "the scheme must be Bearer", clause: "rfc-scheme", http: strictScheme(list)},
		{name: "the scheme must be Bearer with a message", clause: "rfc-scheme", http: strictScheme(submit)},
		{name: "a chunked body gets 411", clause: "rfc-chunked", http: status(create+`.*\r\nTransfer-Encoding: chunked\r\n`, 201, 411)},
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
