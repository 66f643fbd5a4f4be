package httpapi_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestContentType has what the suite does not send: parameters, fields that are given twice,
// and content codings.
func TestContentType(t *testing.T) {
	s := newServer(t, nil)
	both := func(pet, message want, fields ...string) {
		fields = append(fields, authorized)
		s.want(pet, postBare("/pets", rexBody, fields...))
		s.want(message, postBare("/messages", messageBody, fields...))
	}
	for _, value := range []string{
		"APPLICATION/JSON", "application/json;", " \t application/json \t; charset=utf-8 \t",
		`application/json; x="; y"; charset="\u\t\f-8"`, "application/json; ;charset=iso-8859-1", // of which the body shows nothing
	} {
		both(created, accepted, "Content-Type: "+value)
	}
	both(created, accepted, isJSON, "Content-Encoding: identity")
	both(created, accepted, isJSON, "Content-Encoding:")

	missing := bad("Content-Type")
	both(missing, missing)
	both(missing, missing, "Content-Type:")
	both(missing, missing, isJSON, isJSON)
	both(missing, missing, isJSON, "Content-Type: text/plain")
	s.want(missing, request("POST /pets", authorized))
	s.want(found, get("/pets", "Content-Type: text/plain"))

	other := refused(415, "Content-Type")
	for _, value := range []string{
		"application/x-www-form-urlencoded", "application/vnd.api+json", "application/jsonx", ";charset=utf-8",
		"application/json charset=utf-8", "application/json,", "text/plain; application/json",
	} {
		both(other, other, "Content-Type: "+value)
	}
	coding := refused(415, "Content-Encoding")
	both(coding, coding, isJSON, "Content-Encoding: gzip")
	both(coding, coding, isJSON, "Content-Encoding: identity, gzip")
	both(coding, coding, isJSON, "Content-Encoding: identity", "Content-Encoding: br")
}

// pad returns a body of n bytes.
func pad(n int) string {
	return rexBody + strings.Repeat(" ", n-len(rexBody))
}

// chunked returns body in chunks.
func chunked(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

func TestBodySize(t *testing.T) {
	head := request("POST /pets", authorized, isJSON, isChunked)
	for option, limit := range map[int64]int{0: 64 << 10, -1: 64 << 10, 64: 64, 3 << 20: 3 << 20} {
		s := newServer(t, &httpapi.Options{MaxBodyBytes: option})
		s.want(created, post("/pets", pad(limit)), head+chunked(pad(limit), 1000))
		s.want(refused(413, "at most "+strconv.Itoa(limit)),
			post("/pets", pad(limit+1)), post("/pets", pad(2*limit)), post("/messages", pad(limit+1)),
			head+chunked(pad(limit+1), 1000), head+chunked(pad(2*limit), 2*limit),
			request("POST /pets", authorized, isJSON, "Content-Length: 9223372036854775807"))
	}
	s := newServer(t, &httpapi.Options{MaxBodyBytes: 3 << 20})
	long := strings.Repeat("x", petstore.MaxTextBytes)
	s.want(created, post("/pets", `{"categoryId":1,"name":"`+long+`"}`))
	s.want(bad("name: must have at most 65536 bytes, got 65537"), post("/pets", `{"categoryId":1,"name":"`+long+`x"}`))
	s.want(bad("message: must have at most 65536 bytes, got 65537"), post("/messages", `{"message":"`+long+`x"}`))
	s = newServer(t, nil)
	s.h = http.MaxBytesHandler(s.h, 20) // a limit set by middleware holds too
	s.want(refused(413, "at most 20 bytes"), post("/pets", rexBody), head+chunked(rexBody, 9))
}

// TestBodyFraming: a body that ends early or is framed wrongly is never read as
// a whole one.
func TestBodyFraming(t *testing.T) {
	s := newServer(t, nil)
	head := request("POST /pets", authorized, isJSON, isChunked)
	s.want(created, head+chunked(rexBody, 1), head+"1d;x=y\r\n"+rexBody+"\r\n0\r\n\r\n", head+"1d\r\n"+rexBody+"\r\n0\r\nX: y\r\n\r\n")
	s.want(bad("body: is missing"), head+"0\r\n\r\n", request("POST /pets", authorized, isJSON), request("POST /pets", authorized, isJSON, "Content-Length: 0"))
	s.want(bad("body: broke off, or was malformed, after 0 bytes"), head+"zz\r\n"+rexBody)
	s.want(bad("body: broke off"), head+"-1\r\n"+rexBody, head+"2\r\n"+rexBody+"\r\n0\r\n\r\n")
	s.want(bad("unexpected EOF after offset 28"), request("POST /pets", authorized, isJSON, "Content-Length: 28")+rexBody)
	s.want(bad("body: broke off"), request("POST /pets", authorized, isJSON, "Content-Length: 30")+rexBody,
		head+"1d\r\n"+rexBody+"\r\n", head+"1d\r\n"+rexBody, head+"40\r\n"+rexBody)
}

// TestNoBody: a request that did not come over HTTP may have a nil Body.
func TestNoBody(t *testing.T) {
	s := newServer(t, nil)
	for _, length := range []int64{0, -1, 5} {
		r, _ := http.NewRequest("POST", "/pets", nil)
		r.ContentLength = length
		r.Header.Set("Content-Type", "application/json")
		if diff := bad("body: is missing").diff(serveAuthorized(t, s.h, r)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		r.Header.Del("Content-Type")
		if diff := bad("Content-Type").diff(serveAuthorized(t, s.h, r)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestSlowBody: a body that does not come within the server's time limit gets a
// response, and nothing is stored.
func TestSlowBody(t *testing.T) {
	s := newServer(t, nil)
	r := httptest.NewRequest("POST", "/pets", io.MultiReader(strings.NewReader(rexBody), iotest.ErrReader(os.ErrDeadlineExceeded)))
	r.Header.Set("Content-Type", "application/json")
	if diff := refused(408, "in time").diff(serveAuthorized(t, s.h, r)); diff != "" || s.stats().Pets != 0 {
		t.Errorf("%d pets (-want +got):\n%s", s.stats().Pets, diff)
	}
}

// TestDiscard: the rest of a refused body is read up to 1 MiB, unless its client
// waits for 100.
func TestDiscard(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		size, length int
		fields       http.Header
		unread       int
	}{
		{100, 100, nil, 0},
		{mebi, mebi, nil, 0},
		{mebi + 1, mebi + 1, nil, mebi + 1},
		{3 * mebi, -1, nil, 2 * mebi},
		{100, 0, nil, 100},
		{100, 100, http.Header{"Expect": {"100-continue"}}, 100},
		{100, 100, http.Header{"Expect": {"100-continue"}, "Authorization": {"Bearer key-1"}}, 100},
		{100, 100, http.Header{"Expect": {"100-continue"}, "Authorization": {"Bearer key-1"}, "Content-Type": {"application/json"}, "Idempotency-Key": {""}}, 100},
		{70_000, 70_000, http.Header{"Expect": {"100-continue"}, "Authorization": {"Bearer key-1"}, "Content-Type": {"application/json"}}, 70_000},
	} {
		for name, h := range map[string]http.Handler{
			"handler":    httpapi.New(spoiled(), testKeys, nil),
			"WriteError": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, nil) }),
		} {
			body := strings.NewReader(strings.Repeat(" ", c.size))
			r := httptest.NewRequest("POST", "/pets", body)
			r.ContentLength = int64(c.length)
			maps.Copy(r.Header, c.fields)
			if serve(t, h, r); body.Len() != c.unread {
				t.Errorf("%s, %d bytes, Content-Length %d, %v: %d bytes are unread, want %d", name, c.size, c.length, c.fields, body.Len(), c.unread)
			}
		}
	}
}
