package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// response is a response as it came.
type response struct {
	Status int
	Header http.Header
	Body   string
}

// want is what a test expects of a response. Its diff checks what must hold for every
// response too: the form of an Error body, the header fields that come with a status, and
// that no secret is sent.
type want struct {
	status int
	says   string      // part of the Error's message: what is at fault
	body   string      // of a success; "": not compared
	header [][2]string // fields, with names in canonical form; "": must be absent
}

var (
	found    = want{status: 200}
	created  = want{status: 201}
	accepted = want{status: 202}
	internal = refused(500, "internal error")
	noPath   = refused(404, "path")
)

// refused returns what to expect of an error.
func refused(status int, says string) want { return want{status: status, says: says} }

func bad(says string) want { return refused(400, says) }

// with returns w with one more header field.
func (w want) with(name, value string) want {
	w.header = append(slices.Clip(w.header), [2]string{name, value})
	return w
}

// codes are the codes of Error bodies.
var codes = map[int]string{
	400: "invalid", 401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 408: "request_timeout", 409: "conflict",
	413: "body_too_large", 415: "unsupported_media_type", 422: "idempotency_mismatch", 500: "internal", 503: "unavailable", 507: "insufficient_storage",
}

// ofStatus are the header fields that come with one status, and with no other.
var ofStatus = map[string]int{"Www-Authenticate": 401, "Allow": 405, "Retry-After": 503}

// diff compares r with w, and with what must hold for all responses. It returns
// "" if nothing differs.
func (w want) diff(r response) string {
	expected := response{Status: w.status, Header: r.Header.Clone(), Body: r.Body}
	for name, status := range ofStatus {
		if status != w.status {
			expected.Header.Del(name)
		} else if r.Header.Get(name) == "" {
			expected.Header.Set(name, "one that is not empty")
		}
	}
	for _, field := range w.header {
		if expected.Header.Set(field[0], field[1]); field[1] == "" {
			expected.Header.Del(field[0])
		}
	}
	expected.Header.Set("Content-Type", "application/json")
	expected.Header.Set("Content-Length", strconv.Itoa(len(r.Body)))
	if r.Header.Get("X-Request-Id") == "" && w.status >= 400 {
		expected.Header.Set("X-Request-Id", "one that is not empty")
	}
	switch {
	case w.status >= 400:
		expected.Body = w.errorBody(r.Body)
	case w.body != "":
		expected.Body = w.body
	}
	return cmp.Diff(expected, r)
}

// errorBody returns the Error body to expect, with the message in got if that
// says what it must, and neither a key nor a secret of the service. The form is
// exact: no white space, this order, nothing but a client's own bytes escaped.
func (w want) errorBody(got string) string {
	var e struct{ Message string }
	_ = json.Unmarshal([]byte(got), &e)
	if e.Message == "" || !strings.Contains(e.Message, w.says) || strings.Contains(e.Message, "key-") || strings.Contains(e.Message, "secret") {
		e.Message = "... " + w.says + " ..."
	}
	message, _ := jsontext.AppendQuote(nil, e.Message)
	return fmt.Sprintf(`{"code":%q,"message":%s,"status":%d}`, codes[w.status], message, w.status)
}

// want sends requests, and checks that each gets the response w, and that a
// refused one has stored nothing.
func (s *server) want(w want, requests ...string) {
	s.Helper()
	for _, raw := range requests {
		before := s.stats()
		if diff := w.diff(send(s, s.h, raw)); diff != "" {
			s.Errorf("%.500q (-want +got):\n%.2000s", raw, diff)
		}
		if after := s.stats(); w.status >= 400 && after != before {
			s.Errorf("%.500q\nstored something: %+v, before %+v", raw, after, before)
		}
	}
}
