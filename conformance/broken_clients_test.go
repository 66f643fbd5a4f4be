package conformance_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// brokenForClients are servers that only some clients can use.
func brokenForClients() []variant {
	// without changes the responses to requests that lack a header field.
	without := func(field string, change func(*response)) wrapper {
		return responses("", 0, func(res *response) {
			if res.request.Header.Get(field) == "" {
				change(res)
			}
		})
	}
	fails := func(status int) func(*response) {
		return func(res *response) { res.status, res.body = status, failure(status) }
	}
	becomesHTML := func(res *response) {
		res.header.Set("Content-Type", "text/html")
		res.body = "<pre>" + res.body + "</pre>"
	}
	const browser, zipped = `.*\r\nAccept: text/html,`, `.*\r\nAccept-Encoding: gzip\r\n`
	return []variant{
		{name: "a request without User-Agent gets 500", check: "pets.list.status", http: without("User-Agent", fails(500))},
		{name: "a request without Accept gets 406", check: "pets.list.status", http: without("Accept", fails(406))},
		{name: "a request without Accept-Encoding gets 500", check: "pets.list.status", http: without("Accept-Encoding", fails(500))},
		{name: "a browser gets HTML", check: "pets.create.media-type", http: responses(browser, 0, becomesHTML)},
		{name: "a body is not compressed as it says", check: "http.response", http: header(zipped, 0, "Content-Encoding", "gzip")},
		{name: "a compressed body is cut short", check: "http.response", http: responses(zipped, 0, func(res *response) {
			compress(res)
			res.body = res.body[:len(res.body)-9]
		})},
		{name: "a compressed list is another one", check: "pets.list.same", http: responses(list+zipped, 200, func(res *response) {
			res.body = strings.ReplaceAll(res.body, "č", "?")
			compress(res)
		})},
		{name: "a GET with a Content-Type gets 400", check: "pets.list.status", http: responses(`^GET .*\r\nContent-Type: `, 200, fails(400))},
		{name: "escapes for a character are two characters", check: "pets.create.name", http: takes("^POST ", `\\ud83e\\udd8a`, "??")},
		{name: "the last response of a connection is cut short", check: "pets.list.array", http: responses("", 0, func(res *response) {
			if res.request.Close {
				res.body = res.body[:len(res.body)/2]
			}
		})},
		{name: "a pet is shown without a key after it was shown with one", check: "auth.get", http: remembers(fetch, 200)},
		{name: "a list is shown without a key after it was shown with one", check: "auth.list", http: remembers(list, 200)},
		{name: "a pet is refused after it was refused without a key", check: "pets.get.status", http: remembers(fetch, 401)},
		{name: "a message without a key is accepted if it was sent with one", check: "messages.auth", http: remembers(submit, 202)},
		{name: "every response claims the coding gzip", check: "http.coding", http: header("", 0, "Content-Encoding", "gzip")},
		{name: "responses are compressed for every client", check: "http.coding", http: responses("", 0, compress)},
		{name: "only what one read returns of a body counts", check: "pets.create.status", http: readsOnce},
		{name: "some responses are cut short", check: "http.response", http: cutsShort},
	}
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

// cutsShort closes the connection in the middle of the list of a request without a
// query.
var cutsShort = where(`^GET /v1/pets `, func(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("["))
	})
})

// compress compresses a response.
func compress(res *response) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(res.body))
	w.Close()
	res.body = b.String()
	res.header.Set("Content-Encoding", "gzip")
}

// remembers responds to each URL and body of an operation with the first response that has
// the status. It ignores the key.
func remembers(op string, of int) wrapper {
	return func(next http.Handler) http.Handler {
		var first sync.Map
		key := func(res *response) string { return res.request.URL.String() + res.sent }
		return responses(op, 0, func(res *response) {
			if kept, ok := first.Load(key(res)); ok {
				*res = *kept.(*response)
			} else if res.status == of {
				first.Store(key(res), &response{status: res.status, header: res.header.Clone(), body: res.body})
			}
		})(next)
	}
}
