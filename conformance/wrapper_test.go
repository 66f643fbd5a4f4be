package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/test/testserver"
)

// Broken and unusual servers are made with these functions and with those in
// store_test.go. Each function here changes one thing in requests or in responses.
// In their patterns, a dot matches a line break too.

// wrapper changes a handler.
type wrapper = func(http.Handler) http.Handler

// The operations, as patterns of requests.
const (
	list   = `^GET /v1/pets[? ]`
	create = `^POST /v1/pets `
	fetch  = `^GET /v1/pets/`
	submit = `^POST /v1/messages `
)

// when applies w to some requests.
func when(applies func(*http.Request) bool, w wrapper) wrapper {
	return func(next http.Handler) http.Handler {
		changed := w(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if applies(r) {
				changed.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// where applies w to the requests that match a pattern, as HTTP/1.1 writes them.
func where(pattern string, w wrapper) wrapper {
	if pattern == "" {
		return w
	}
	re := compile(pattern)
	return when(func(r *http.Request) bool {
		text, err := httputil.DumpRequest(r, true)
		return err == nil && re.Match(text)
	}, w)
}

// nth applies w to one of the requests that match a pattern.
func nth(n int64, pattern string, w wrapper) wrapper {
	var seen atomic.Int64
	return where(pattern, when(func(*http.Request) bool { return seen.Add(1) == n }, w))
}

// until applies w to the first n requests that match a pattern.
func until(n int64, pattern string, w wrapper) wrapper {
	var seen atomic.Int64
	return where(pattern, when(func(*http.Request) bool { return seen.Add(1) <= n }, w))
}

// since applies w after a while.
func since(d time.Duration, w wrapper) wrapper {
	return func(next http.Handler) http.Handler {
		began := time.Now()
		return when(func(*http.Request) bool { return time.Since(began) >= d }, w)(next)
	}
}

// all applies several wrappers, the first one outermost.
func all(ws ...wrapper) wrapper {
	return func(next http.Handler) http.Handler {
		for _, w := range slices.Backward(ws) {
			next = w(next)
		}
		return next
	}
}

// drops drops the connection.
func drops(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// raw responds with bytes, and closes the connection.
func raw(response string) wrapper {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				defer conn.Close()
				io.WriteString(conn, response)
			}
		})
	}
}

// firewall refuses a request with 403 in HTML.
var firewall = raw("HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<h1>no</h1>")

// requests changes the requests that match a pattern.
func requests(pattern string, change func(*http.Request)) wrapper {
	return where(pattern, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	})
}

// withKey gives a request the valid key.
func withKey(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testKey) }

// query replaces the matches of a pattern in the query of the requests for a list.
func query(pattern, with string) wrapper {
	change := replace(pattern, with)
	return requests(list, func(r *http.Request) { r.URL.RawQuery = change(r.URL.RawQuery) })
}

// reads makes a server read the path of a request for a pet as another one: it
// replaces the matches of a pattern first.
func reads(pattern, with string) wrapper {
	change := replace(pattern, with)
	return requests(fetch, func(r *http.Request) { r.URL.Path, r.URL.RawPath = change(r.URL.Path), "" })
}

// takes makes a server read a body that is sent to an operation as another one: it
// replaces the matches of a pattern first.
func takes(op, pattern, with string) wrapper {
	change := replace(pattern, with)
	return requests(op, func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s := change(string(b))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(s)), int64(len(s))
		r.Header.Set("Content-Length", strconv.Itoa(len(s)))
	})
}

// response is a response before it is sent.
type response struct {
	request *http.Request
	sent    string // the request's body
	status  int
	header  http.Header
	body    string
}

// responses changes the responses with one status (0: any) to the requests that
// match a pattern.
func responses(pattern string, of int, change func(*response)) wrapper {
	return where(pattern, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
			testserver.Changed(next, func(r *http.Request, rec *httptest.ResponseRecorder) {
				if of == 0 || of == rec.Code {
					res := &response{r, string(sent), rec.Code, rec.Header(), rec.Body.String()}
					change(res)
					rec.Code, rec.Body = res.status, bytes.NewBufferString(res.body)
				}
			}).ServeHTTP(w, r)
		})
	})
}

// replaces changes the responses that have one status and a body that matches a
// pattern: their status, and the matches.
func replaces(op string, from int, pattern string, to int, with string) wrapper {
	re := compile(pattern)
	return responses(op, from, func(res *response) {
		if re.MatchString(res.body) {
			res.status, res.body = to, re.ReplaceAllString(res.body, with)
		}
	})
}

// status changes the status of responses.
func status(op string, from, to int) wrapper { return replaces(op, from, "^", to, "") }

// refuses makes a server refuse requests that it accepts.
func refuses(pattern string, from, to int) wrapper {
	return replaces(pattern, from, `^.*$`, to, failure(to))
}

// rejects makes a server refuse requests without carrying them out.
func rejects(pattern string, status int) wrapper {
	return where(pattern, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, failure(status))
		})
	})
}

// html makes a server respond in HTML.
func html(pattern string, status int) wrapper {
	return responses(pattern, 0, func(res *response) {
		res.status, res.body = status, "<h1>no</h1>"
		res.header.Set("Content-Type", "text/html")
	})
}

// failure returns an Error body.
func failure(status int) string {
	return fmt.Sprintf(`{"code":"failed","message":"it failed","status":%d}`, status)
}

// edit replaces the matches of a pattern in the bodies of the responses with one
// status.
func edit(op string, of int, pattern, with string) wrapper {
	change := replace(pattern, with)
	return responses(op, of, func(res *response) { res.body = change(res.body) })
}

// set sets a member of every object in the same bodies as edit.
func set(op string, of int, member, value string) wrapper {
	return values(op, of, member, func(string) string { return value })
}

// lacks renames a member of every object in the same bodies, so that it is missing.
func lacks(op string, of int, member string) wrapper {
	return edit(op, of, `"`+member+`":`, `"other":`)
}

// values changes a member of every object in the same bodies. change gets its
// value as it is written.
func values(op string, of int, member string, change func(string) string) wrapper {
	re, name := compile(`"`+member+`":("([^"\\]|\\.)*"|[^,\]}]+)`), `"`+member+`":`
	return responses(op, of, func(res *response) {
		res.body = re.ReplaceAllStringFunc(res.body, func(s string) string {
			return name + change(strings.TrimPrefix(s, name))
		})
	})
}

// texts is values for a member that is a string. change gets the string.
func texts(op string, of int, member string, change func(string) string) wrapper {
	return values(op, of, member, func(s string) string {
		var text string
		if err := json.Unmarshal([]byte(s), &text); err != nil {
			panic(err)
		}
		b, _ := json.Marshal(change(text))
		return string(b)
	})
}

// header sets a header field of the responses with one status; "" removes it.
func header(op string, of int, name, value string) wrapper {
	return responses(op, of, func(res *response) {
		res.header.Set(name, value)
		if value == "" {
			res.header[name] = nil // if it is only absent, net/http may set it
		}
	})
}

func compile(pattern string) *regexp.Regexp { return regexp.MustCompile("(?s)" + pattern) }

// replace returns a function that replaces the matches of a pattern.
func replace(pattern, with string) func(string) string {
	re := compile(pattern)
	return func(s string) string { return re.ReplaceAllString(s, with) }
}
