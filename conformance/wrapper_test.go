package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/internal/testserver"
)

// Broken and unusual servers are made with these functions. Each changes one thing
// in requests or in responses. In their patterns, a dot matches a line break too.

// wrapper changes a handler.
type wrapper = func(http.Handler) http.Handler

// object is a JSON object with its values as they are written.
type object = map[string]jsontext.Value

// The operations.
const (
	list   = "GET /v1/pets"
	create = "POST /v1/pets"
	fetch  = "GET /v1/pets/{id}"
	submit = "POST /v1/messages"
)

func operation(r *http.Request) string {
	path := r.URL.Path
	if strings.HasPrefix(path, "/v1/pets/") {
		path = "/v1/pets/{id}"
	}
	return r.Method + " " + path
}

// response is a response before it is sent.
type response struct {
	request *http.Request
	sent    []byte // the request's body
	status  int
	header  http.Header
	body    []byte
}

// responses changes the responses to an operation ("": to all).
func responses(op string, change func(*response)) wrapper {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if op != "" && operation(r) != op {
				next.ServeHTTP(w, r)
				return
			}
			sent, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
			testserver.Changed(next, func(r *http.Request, rec *httptest.ResponseRecorder) {
				res := &response{r, sent, rec.Code, rec.Header(), rec.Body.Bytes()}
				change(res)
				rec.Code, rec.Body = res.status, bytes.NewBuffer(res.body)
			}).ServeHTTP(w, r)
		})
	}
}

// requests changes the requests for an operation.
func requests(op string, change func(*http.Request)) wrapper {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if operation(r) == op {
				change(r)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// where applies w to the requests that match a pattern, as HTTP/1.1 writes them.
func where(pattern string, w wrapper) wrapper {
	re := compile(pattern)
	return func(next http.Handler) http.Handler {
		changed := w(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if text, err := httputil.DumpRequest(r, true); err == nil && re.Match(text) {
				changed.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// both applies two wrappers.
func both(outer, inner wrapper) wrapper {
	return func(next http.Handler) http.Handler { return outer(inner(next)) }
}

// drops drops the connection.
func drops(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// replaces changes the status of the responses to an operation that have one
// status and a body that matches a pattern, and replaces the matches.
func replaces(op string, from int, pattern string, to int, with string) wrapper {
	re := compile(pattern)
	return responses(op, func(res *response) {
		if res.status == from && re.Match(res.body) {
			res.status, res.body = to, re.ReplaceAll(res.body, []byte(with))
		}
	})
}

// status changes the status of the responses to an operation.
func status(op string, from, to int) wrapper { return replaces(op, from, "^", to, "") }

// edit replaces the matches of a pattern in the bodies of the responses to an
// operation with one status.
func edit(op string, of int, pattern, with string) wrapper {
	return replaces(op, of, pattern, of, with)
}

// header sets a header field of the responses to an operation with one status;
// "" removes it.
func header(op string, of int, name, value string) wrapper {
	return responses(op, func(res *response) {
		if res.status != of {
			return
		}
		res.header.Set(name, value)
		if value == "" {
			res.header[name] = nil // or net/http sets it
		}
	})
}

// objects changes every object in the responses to an operation with one status:
// the pets of a list, or the body.
func objects(op string, of int, change func(object)) wrapper {
	return responses(op, func(res *response) {
		if res.status != of {
			return
		}
		if len(res.body) > 0 && res.body[0] == '[' {
			var list []object
			mustUnmarshal(res.body, &list)
			for _, o := range list {
				change(o)
			}
			res.body = marshal(list)
			return
		}
		var o object
		mustUnmarshal(res.body, &o)
		change(o)
		res.body = marshal(o)
	})
}

// set sets a member of every such object; "" removes it.
func set(op string, of int, member, value string) wrapper {
	return objects(op, of, func(o object) { put(o, member, value) })
}

func put(o object, member, value string) {
	o[member] = jsontext.Value(value)
	if value == "" {
		delete(o, member)
	}
}

// texts changes a member of every such object that is a string.
func texts(op string, of int, member string, change func(string) string) wrapper {
	return objects(op, of, func(o object) { o[member] = quoted(change(unquoted(o[member]))) })
}

// lists changes the elements of lists.
func lists(change func(*http.Request, []object) []object) wrapper {
	return responses(list, func(res *response) {
		if res.status != http.StatusOK {
			return
		}
		var l []object
		mustUnmarshal(res.body, &l)
		if l = change(res.request, l); l == nil {
			l = []object{}
		}
		res.body = marshal(l)
	})
}

// query replaces the matches of a pattern in the query of the requests for a list.
func query(pattern, with string) wrapper {
	change := replace(pattern, with)
	return requests(list, func(r *http.Request) { r.URL.RawQuery = change(r.URL.RawQuery) })
}

// limits changes the limits from 2 to 99.
func limits(change func(int) int) wrapper {
	return values(func(q url.Values) {
		if n, err := strconv.Atoi(q.Get("limit")); err == nil && 1 < n && n < 100 {
			q.Set("limit", strconv.Itoa(change(n)))
		}
	})
}

// values changes the query of the requests for a list.
func values(change func(url.Values)) wrapper {
	return requests(list, func(r *http.Request) {
		q := r.URL.Query()
		change(q)
		r.URL.RawQuery = q.Encode()
	})
}

// bodies changes the bodies of the requests for an operation.
func bodies(op string, change func(string) string) wrapper {
	return requests(op, func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s := change(string(b))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(s)), int64(len(s))
		r.Header.Set("Content-Length", strconv.Itoa(len(s)))
	})
}

// reads makes a server accept a body that is not JSON: it replaces the matches of
// a pattern.
func reads(op, pattern, instead string) wrapper {
	change := replace(pattern, instead)
	return bodies(op, func(s string) string {
		if jsontext.Value(s).IsValid() {
			return s
		}
		return change(s)
	})
}

// refuses makes a server refuse requests that it would accept, by their body.
func refuses(op string, code int, pattern string) wrapper {
	re := compile(pattern)
	return responses(op, func(res *response) {
		if res.status < 300 && re.Match(res.sent) {
			res.status, res.body = code, []byte(`{"code":"refused","message":"refused","status":`+strconv.Itoa(code)+`}`)
		}
	})
}

// members changes the body of the requests for an operation, if it is an object.
func members(op string, change func(object)) wrapper {
	return bodies(op, func(s string) string {
		var o object
		if json.Unmarshal([]byte(s), &o) != nil || o == nil {
			return s
		}
		change(o)
		return string(marshal(o))
	})
}

// accepts makes a server accept a wrong value of a member: it replaces the value.
// "" removes the member.
func accepts(op, member, pattern, instead string) wrapper {
	re := compile(pattern)
	return members(op, func(o object) {
		if v, ok := o[member]; ok && re.Match(v) {
			put(o, member, instead)
		}
	})
}

// defaults makes a server set a member that is missing.
func defaults(op, member, value string) wrapper {
	return members(op, func(o object) {
		if _, ok := o[member]; !ok {
			o[member] = jsontext.Value(value)
		}
	})
}

func compile(pattern string) *regexp.Regexp { return regexp.MustCompile("(?s)" + pattern) }

// replace returns a function that replaces the matches of a pattern.
func replace(pattern, with string) func(string) string {
	re := compile(pattern)
	return func(s string) string { return re.ReplaceAllString(s, with) }
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func mustUnmarshal(b []byte, v any) {
	if err := json.Unmarshal(b, v); err != nil {
		panic(err)
	}
}

// member returns a member of the object b as it is written; "" if there is none.
func member(b []byte, name string) string {
	var o object
	if json.Unmarshal(b, &o) != nil {
		return ""
	}
	return string(o[name])
}

func quoted(s string) jsontext.Value { return jsontext.Value(marshal(s)) }

func unquoted(v jsontext.Value) string {
	var s string
	mustUnmarshal(v, &s)
	return s
}
