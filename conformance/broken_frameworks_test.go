package conformance_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/animalstore/conformance"
)

// brokenFrameworks have defaults of common frameworks.
func brokenFrameworks() []variant {
	type415 := func(contentType string) wrapper { return rejects(`^POST .*\r\nContent-Type: `+contentType, 415) }
	return []variant{
		{name: "a charset is refused", check: "pets.create.status", http: type415("application/json; charset=utf-8")},
		{name: "a media type in capitals is refused", check: "http.media-type.case", http: type415("Application/JSON")},
		{name: "a message may be a form", check: "messages.form", http: accepted(submit + `.*\r\nContent-Type: application/x-www-form-urlencoded`)},
		{name: "lists fail after an unpaired surrogate", check: "pets.list.status", http: poisoned},
		{name: "an unpaired surrogate gets 500", check: "pets.create.surrogate", http: responses(create+`.*\\ud800","cat`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
		{name: "a member nested 2000 deep gets 500", check: "pets.create.status", http: responses(create+`.*"more":\[\[`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
		{name: "a member nested 6000 deep gets 500 in a message", check: "messages.status", http: responses(submit+`.*"more":\[\[`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
		{name: "NaN is a number", check: "pets.create.400.body", http: takes(create, `:(NaN|-?Infinity)\b`, ":0")},
		{name: "TRUE is true", check: "pets.create.400.body", http: takes(create, `TRUE`, "true")},
		{name: "limit[] gets 500", check: "errors.no-5xx", http: status(`limit%5B%5D`, 200, 500)},
		{name: "the body of a 400 is left unread", check: "pets.create.status", http: unread, opts: conformance.Options{Parallel: 1}}, // the same request follows each time
		{name: "createdAt has the zone +0000", check: "messages.time.rfc3339", http: texts(submit, 202, "createdAt", replace("Z", "+0000"))},
	}
}

// accepted makes a server accept the messages that match a pattern, in any form.
func accepted(pattern string) wrapper {
	return requests(pattern, func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, text, _ := strings.Cut(string(b), "=")
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(`{"message":"` + text + `"}`))
		r.ContentLength = -1
	})
}

// poisoned accepts an unpaired surrogate as a name, and then cannot encode it.
func poisoned(next http.Handler) http.Handler {
	var stored atomic.Bool
	return all(
		responses(list, 200, func(res *response) {
			if stored.Load() {
				res.status, res.body = 500, failure(500)
			}
		}),
		requests(create+`.*"name":"\\ud800","cat`, func(*http.Request) { stored.Store(true) }))(next)
}

// unread takes the unread body of a 400 for the next request on the connection.
func unread(next http.Handler) http.Handler {
	var spoiled sync.Map // by address of the client
	refused := responses(create, 400, func(res *response) { spoiled.Store(res.request.RemoteAddr, true) })(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := spoiled.LoadAndDelete(r.RemoteAddr); ok {
			w.Header().Set("Connection", "close")
			http.Error(w, "unknown method", http.StatusNotImplemented)
			return
		}
		refused.ServeHTTP(w, r)
	})
}
