package conformance_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"

	"example.com/animalstore/conformance"
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
	const browser, scripts, zipped = `.*\r\nAccept: text/html,`, `.*\r\nAccept: text/html\r\n`, `.*\r\nAccept-Encoding: gzip\r\n`
	return []variant{
		{name: "the names of header fields have a case", clause: "clients", opts: conformance.Options{Transport: caseSensitive{}}},
		{name: "a request without User-Agent gets 500", clause: "clients", http: without("User-Agent", fails(500))},
		{name: "a request without Accept gets 406", clause: "clients", http: without("Accept", fails(406))},
		{name: "a request without Accept-Encoding gets 500", clause: "clients", http: without("Accept-Encoding", fails(500))},
		{name: "a browser gets HTML", clause: "clients", http: responses(browser, 0, becomesHTML)},
		{name: "a browser gets its errors in HTML", clause: "clients", http: responses(browser, 401, becomesHTML)},
		{name: "who accepts HTML gets it", clause: "clients", http: responses(scripts, 0, becomesHTML)},
		{name: "who accepts HTML gets 500", clause: "clients", http: responses(scripts, 0, fails(500))},
		{name: "a body is not compressed as it says", clause: "clients", http: header(zipped, 0, "Content-Encoding", "gzip")},
		{name: "a compressed body is cut short", clause: "clients", http: responses(zipped, 0, func(res *response) {
			compress(res)
			res.body = res.body[:len(res.body)-9]
		})},
		{name: "a compressed list is another one", clause: "clients", http: responses(list+zipped, 200, func(res *response) {
			res.body = strings.ReplaceAll(res.body, "Č", "?")
			compress(res)
		})},
		{name: "a GET with a Content-Type gets 400", clause: "clients", http: responses(`^GET .*\r\nContent-Type: `, 200, fails(400))},
		{name: "escapes for a character are two characters", clause: "clients", http: takes("^POST ", `\\ud83e\\udd8a`, "??")},
		{name: "escapes beyond ASCII are lost", clause: "clients", http: takes("^POST ", `\\u732b`, "")},
		{name: "the last response of a connection is cut short", clause: "clients", http: responses("", 0, func(res *response) {
			if res.request.Close {
				res.body = res.body[:len(res.body)/2]
			}
		})},
		{name: "a pet is shown without a key after it was shown with one", clause: "clients", http: remembers(fetch, 200)},
		{name: "a list is shown without a key after it was shown with one", clause: "clients", http: remembers(list, 200)},
		{name: "a pet is refused after it was refused without a key", clause: "clients", http: remembers(fetch, 401)},
		{name: "a message without a key is accepted if it was sent with one", clause: "clients", http: remembers(submit, 202)},
		{name: "a list is remembered", clause: "list-shows", http: remembers(list, 200)},
		{name: "every response claims the coding gzip", clause: "rfc-coding", http: header("", 0, "Content-Encoding", "gzip")},
		{name: "a client that accepts gzip with the weight 0 gets it", clause: "rfc-coding", http: responses(`.*\r\nAccept-Encoding: gzip;q=0\r\n`, 0, compress)},
		{name: "deflate lacks the zlib format", clause: "rfc-deflate", http: deflates(func(w io.Writer) io.WriteCloser {
			raw, _ := flate.NewWriter(w, flate.DefaultCompression)
			return raw
		})},
		{name: "a body with the coding deflate is gzip", clause: "rfc-deflate", http: deflates(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		{name: "responses are compressed for every client", clause: "rfc-coding", http: responses("", 0, compress)},
		{name: "queries are not decoded", clause: "rfc-encoded", http: responses(`^GET /v1/pets\?limit=%31&status=%73old `, 200, fails(400))},
		{name: "only what one read returns of a body counts", clause: "clients", http: readsOnce},
		{name: "requests from a page of another origin get 403", clause: "origin", http: responses(`.*\r\nOrigin: `, 0, fails(403))},
		{name: "every If-None-Match gets 304", clause: "rfc-conditional", http: responses(`.*\r\nIf-None-Match: `, 200, func(res *response) { res.status, res.body = 304, "" })},
		{name: "some responses are cut short", clause: "rfc-complete", http: cutsShort},
		{name: "a charset gets 415", clause: "rfc-charset", http: responses(`.*\r\nContent-Type: application/json;`, 0, fails(415))},
		{name: "an expectation gets 417", clause: "rfc-expect", http: responses(`.*\r\nExpect: `, 0, fails(417))},
	}
}

// deaf is a transport whose server does not learn that the client asks to close the
// connection.
var deaf = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return deafConn{conn}, err
}}

type deafConn struct{ net.Conn }

func (c deafConn) Write(b []byte) (int, error) {
	_, err := c.Conn.Write(bytes.ReplaceAll(b, []byte("Connection: close\r\n"), nil))
	return len(b), err
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

// caseSensitive loses header fields whose names are not written as in the RFCs.
type caseSensitive struct{}

func (caseSensitive) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name := range r.Header {
		if name != textproto.CanonicalMIMEHeaderKey(name) {
			delete(r.Header, name)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
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

// remembers responds to each URL and body of an operation with the first response that has
// the status, whatever the key.
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
