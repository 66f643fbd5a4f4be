package conformance_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync/atomic"
)

// brokenResponses are servers that break HTTP, or the body of an error, or that only some clients can use.
func brokenResponses() []broken {
	// without makes requests fail that lack a header field.
	without := func(field, op string, status int) wrapper {
		return when(func(r *http.Request) bool { return r.Header.Get(field) == "" }, refuses(op, 0, status))
	}
	const browser, zipped = `.*\r\nAccept: text/html,`, `.*\r\nAccept-Encoding: gzip\r\n`
	return []broken{
		{"a 400 for a pet is text/plain", "errors.media-type", header(create, 400, "Content-Type", "text/plain"), nil},
		{"a 404 has no code", "errors.code", lacks(fetch, 404, "code"), nil},
		{"a 404 has no body", "errors.object", edit(fetch, 404, `.*`, ""), nil},
		{"a 400 for a pet has no message", "errors.message", lacks(create, 400, "message"), nil},
		{"a 401 is application/problem+json and has its status in a string", "errors.media-type errors.status",
			all(header("", 401, "Content-Type", "application/problem+json"), set("", 401, "status", `"401"`)), nil},
		{"a 400 for a message has another status inside", "errors.status", set(submit, 400, "status", "500"), nil},
		{"a body of 200 KiB gets 413 in HTML", "errors.any", html(create+`.*aaaaa`, 413), nil},
		{"an id with a suffix gets HTML", "errors.any", html(`^GET /v1/pets/\d+\.5 `, 404), nil},
		{"the message about a status repeats its quotes", "errors.object", repeatsQuotes(create + `.*"status":"a\\"b`), nil},
		{"the Location gets 404", "http.location", header(create, 201, "Location", "/v1/pets/0"), nil},
		{"a body in chunks gets 400, Expect 417, and a media type in capitals 415", "http.media-type.case http.chunked http.expect", all(
			rejects(`\r\nTransfer-Encoding: chunked\r`, 400), rejects(`\r\nExpect: 100-continue\r`, 417), rejects(`^POST .*\r\nContent-Type: Application/JSON`, 415)), nil},
		{"a charset is refused", "pets.create.status", rejects(`^POST .*\r\nContent-Type: application/json; charset=utf-8`, 415), nil},
		{"a list fails without Accept, POST /pets without User-Agent, and a message without Accept-Encoding", "pets.list.status pets.create.status messages.status",
			all(without("Accept", list, 406), without("User-Agent", create, 500), without("Accept-Encoding", submit, 500)), nil},
		{"a browser gets HTML", "pets.create.media-type", all(header(browser, 0, "Content-Type", "text/html"), edit(browser, 0, `.*`, "<pre>$0</pre>")), nil},
		{"a compressed body is cut short", "http.response", responses(zipped, 0, func(res *response) {
			compress(res)
			res.body = res.body[:len(res.body)-9]
		}), nil},
		{"escapes for a character are two characters", "pets.create.name", takes("^POST ", `\\ud83e\\udd8a`, "??"), nil},
		{"the last response of a connection is cut short", "pets.list.array", responses("", 0, func(res *response) {
			if res.request.Close {
				res.body = res.body[:len(res.body)/2]
			}
		}), nil},
		{"responses are compressed for every client", "http.coding", responses("", 0, compress), nil},
		{"only what one read returns of a body counts", "pets.create.status", readsOnce, nil},
		{"some responses are cut short", "http.response", where(`^GET /v1/pets `, raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[")), nil},
		{"lists fail after an unpaired surrogate", "pets.list.status", failsAfter(create + `.*"name":"\\ud800","cat`), nil},
	}
}

// repeatsQuotes does not escape a quote in the message of a 400.
func repeatsQuotes(pattern string) wrapper {
	return edit(pattern, 400, `"message":"[^"]*"`, `"message":"unknown: "a"b""`)
}

// failsAfter fails with every list after a request that matches a pattern.
func failsAfter(pattern string) wrapper {
	var spoilt atomic.Bool
	return all(
		when(func(*http.Request) bool { return spoilt.Load() }, refuses(list, 200, 500)),
		requests(pattern, func(*http.Request) { spoilt.Store(true) }))
}

// readsOnce takes what the first read returns for the whole body.
func readsOnce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 64<<10)
		n, _ := r.Body.Read(b)
		r.Body = io.NopCloser(bytes.NewReader(b[:n]))
		next.ServeHTTP(w, r)
	})
}

// compress compresses a response.
func compress(res *response) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(res.body))
	w.Close()
	res.body = b.String()
	res.header.Set("Content-Encoding", "gzip")
}
