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

// The tools that broken and unusual servers are made with: each changes one
// thing about requests on their way in, or about answers on their way out.

// wrapper changes a handler.
type wrapper = func(http.Handler) http.Handler

// object is a JSON object whose values are kept as they are written.
type object = map[string]jsontext.Value

// The operations, as the tools name them.
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

// answer is an answer on its way out.
type answer struct {
	request *http.Request
	sent    []byte // the request's body
	status  int
	header  http.Header
	body    []byte
}

// answers changes the answers to an operation ("": to all).
func answers(op string, change func(*answer)) wrapper {
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
			a := &answer{r, sent, rec.Code, rec.Header(), rec.Body.Bytes()}
			change(a)
			a.header.Del("Content-Length")
			for name, values := range a.header {
				w.Header()[name] = values
			}
			w.WriteHeader(a.status)
			w.Write(a.body)
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

// status gives the answers to an operation of one status another one.
func status(op string, from, to int) wrapper {
	return answers(op, func(a *answer) {
		if a.status == from {
			a.status = to
		}
	})
}

// header sets a field of the answers to an operation; "" removes it.
func header(op string, of int, name, value string) wrapper {
	return answers(op, func(a *answer) {
		if a.status != of {
			return
		}
		a.header.Set(name, value)
		if value == "" {
			a.header[name] = nil // keeps net/http from guessing
		}
	})
}

// body replaces the body of the answers to an operation of one status.
func body(op string, of int, text string) wrapper {
	return answers(op, func(a *answer) {
		if a.status == of {
			a.body = []byte(text)
		}
	})
}

// objects changes every object that the answers to an operation hold: the
// pets of a list, or the one that the answer is.
func objects(op string, of int, change func(object)) wrapper {
	return answers(op, func(a *answer) {
		if a.status != of {
			return
		}
		if len(a.body) > 0 && a.body[0] == '[' {
			var list []object
			mustUnmarshal(a.body, &list)
			for _, o := range list {
				change(o)
			}
			a.body = marshal(list)
			return
		}
		var o object
		mustUnmarshal(a.body, &o)
		change(o)
		a.body = marshal(o)
	})
}

// set gives a member of every object another value; "" takes it away.
func set(op string, of int, member, value string) wrapper {
	return objects(op, of, func(o object) {
		o[member] = jsontext.Value(value)
		if value == "" {
			delete(o, member)
		}
	})
}

// lists changes the array that a list is, given the request.
func lists(change func(*http.Request, []object) []object) wrapper {
	return answers(list, func(a *answer) {
		if a.status != http.StatusOK {
			return
		}
		var l []object
		mustUnmarshal(a.body, &l)
		if l = change(a.request, l); l == nil {
			l = []object{}
		}
		a.body = marshal(l)
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

// refuses answers requests for an operation that a test picks by their body.
func refuses(op string, code int, pick func(sent string) bool) wrapper {
	return answers(op, func(a *answer) {
		if a.status < 300 && pick(string(a.sent)) {
			a.status, a.body = code, []byte(`{"code":"refused","message":"refused","status":`+strconv.Itoa(code)+`}`)
		}
	})
}

// members changes the object that a request's body is, where it is one.
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

// takes makes a server take a wrong kind of value for a member: it goes on
// as if there were another one. "" takes the member away.
func takes(op, member string, like *regexp.Regexp, instead string) wrapper {
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

// defaults makes a server fill in a member that is missing.
func defaults(op, member, value string) wrapper {
	return members(op, func(o object) {
		if _, ok := o[member]; !ok {
			o[member] = jsontext.Value(value)
		}
	})
}

// reads makes a server read a body that is not JSON: what the pattern matches
// is replaced.
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
