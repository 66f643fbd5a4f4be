package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Broken and unusual servers are made with these functions. Each changes one thing
// in requests or in responses.

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
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			res := &response{r, sent, rec.Code, rec.Header(), rec.Body.Bytes()}
			change(res)
			res.header.Del("Content-Length")
			for name, values := range res.header {
				w.Header()[name] = values
			}
			w.WriteHeader(res.status)
			w.Write(res.body)
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

// bodies changes the bodies of the requests for an operation.
func bodies(op string, change func(string) string) wrapper {
	return requests(op, func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s := change(string(b))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(s)), int64(len(s))
		r.Header.Set("Content-Length", strconv.Itoa(len(s)))
	})
}

// status changes the status of the responses to an operation.
func status(op string, from, to int) wrapper {
	return responses(op, func(res *response) {
		if res.status == from {
			res.status = to
		}
	})
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

// body replaces the body of the responses to an operation with one status.
func body(op string, of int, text string) wrapper {
	return responses(op, func(res *response) {
		if res.status == of {
			res.body = []byte(text)
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
	return objects(op, of, func(o object) {
		o[member] = jsontext.Value(value)
		if value == "" {
			delete(o, member)
		}
	})
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

// query changes the query of the requests for a list.
func query(change func(get func(string) string, set func(string, string))) wrapper {
	return requests(list, func(r *http.Request) {
		q := r.URL.Query()
		change(q.Get, func(name, value string) {
			q.Set(name, value)
			if value == "" {
				q.Del(name)
			}
		})
		r.URL.RawQuery = q.Encode()
	})
}

// both applies two wrappers.
func both(outer, inner wrapper) wrapper {
	return func(next http.Handler) http.Handler { return outer(inner(next)) }
}

// refuses makes a server refuse requests that it would accept, by their body.
func refuses(op string, code int, pick func(sent string) bool) wrapper {
	return responses(op, func(res *response) {
		if res.status < 300 && pick(string(res.sent)) {
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
func accepts(op, member string, like *regexp.Regexp, instead string) wrapper {
	return members(op, func(o object) {
		v, ok := o[member]
		if !ok || !like.Match(v) {
			return
		}
		o[member] = jsontext.Value(instead)
		if instead == "" {
			delete(o, member)
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

// reads makes a server accept a body that is not JSON: it replaces the matches of
// a pattern.
func reads(op, pattern, instead string) wrapper {
	re := regexp.MustCompile(pattern)
	return bodies(op, func(s string) string {
		if jsontext.Value(s).IsValid() {
			return s
		}
		return re.ReplaceAllString(s, instead)
	})
}

func like(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

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

func quoted(s string) jsontext.Value { return jsontext.Value(marshal(s)) }

func unquoted(v jsontext.Value) string {
	var s string
	mustUnmarshal(v, &s)
	return s
}
