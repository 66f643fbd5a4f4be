package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestExpectContinue: a client that expects 100 gets it only if its body will be
// read.
func TestExpectContinue(t *testing.T) {
	s := newServer(t, nil)
	const expect = "Expect: 100-continue"
	length := fmt.Sprintf("Content-Length: %d", len(rexBody))
	for _, c := range []struct {
		name, send string
		status     int
	}{
		{"no credential", request("POST /pets", isJSON, length, expect), 401},
		{"bad credential", request("POST /pets", isJSON, length, expect, "Authorization: Bearer nope"), 401},
		{"no such path", request("POST /cats", authorized, isJSON, length, expect), 404},
		{"method", request("PUT /pets", authorized, isJSON, length, expect), 405},
		{"type", request("POST /pets", authorized, length, expect), 400},
		{"another type", request("POST /pets", authorized, "Content-Type: text/plain", length, expect), 415},
		{"key", request("POST /pets", authorized, isJSON, length, expect, "Idempotency-Key:"), 400},
		{"size", request("POST /pets", authorized, isJSON, "Content-Length: 2000000", expect), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, br := dial(t, s.addr)
			_, _ = io.WriteString(conn, c.send)
			if r := next(t, br); r.status != c.status || !r.closes {
				t.Errorf("response %+v", r)
			}
		})
	}
	conn, br := dial(t, s.addr)
	_, _ = io.WriteString(conn, request("POST /pets", authorized, isJSON, length, expect))
	if r := next(t, br); r.status != 100 {
		t.Fatalf("response %+v", r)
	}
	_, _ = io.WriteString(conn, rexBody)
	if r := next(t, br); r.status != 201 {
		t.Errorf("response %+v", r)
	}
}

// TestPipeline: requests on one connection, some of them refused, get their own
// responses in order, and no body is read as a request.
func TestPipeline(t *testing.T) {
	s := newServer(t, nil)
	smuggled := post("/pets", `{"name":"smuggled","categoryId":1}`)
	conn, br := dial(t, s.addr)
	steps := []struct {
		send   string
		status int
	}{
		{post("/pets", rexBody), 201},
		{post("/pets", "{"), 400},
		{postBare("/pets", smuggled, isJSON), 401},
		{postBare("/pets", smuggled, authorized), 400},
		{post("/cats", smuggled), 404},
		{post("/pets/1", smuggled), 405},
		{post("/pets", smuggled), 400},
		{request("GET /pets/1", authorized, "Transfer-Encoding: chunked") + chunked(smuggled, 7), 200},
		{get("/pets/%31"), 200},
		{request("DELETE /pets/1", fmt.Sprintf("Content-Length: %d", len(smuggled))) + smuggled, 405},
		{get("/pets"), 200},
	}
	go func() {
		for _, step := range steps {
			_, _ = io.WriteString(conn, step.send)
		}
	}()
	for _, step := range steps {
		if r := next(t, br); r.status != step.status {
			t.Fatalf("%q: response %+v", step.send, r)
		}
	}
	if n := s.stats(t).Pets; n != 1 {
		t.Errorf("%d pets, want 1", n)
	}
}

// TestAmbiguousRequests sends requests that two servers in a row might read
// differently. net/http refuses most of them before the handler runs. None of
// them stores more than one reading asks for.
func TestAmbiguousRequests(t *testing.T) {
	s := newServer(t, nil)
	n := fmt.Sprintf("Content-Length: %d", len(rexBody))
	const isChunked = "Transfer-Encoding: chunked"
	_, plain, _ := strings.Cut(ourDocument(t).Info.Description, "malformed as HTTP")
	plain, _, _ = strings.Cut(plain, "\n\n")
	for name, raw := range map[string]string{
		"two lengths":           request("POST /pets", authorized, isJSON, n, "Content-Length: 5") + rexBody,
		"length list":           request("POST /pets", authorized, isJSON, n+", 5") + rexBody,
		"length with sign":      request("POST /pets", authorized, isJSON, "Content-Length: +29") + rexBody,
		"negative length":       request("POST /pets", authorized, isJSON, "Content-Length: -1") + rexBody,
		"hexadecimal length":    request("POST /pets", authorized, isJSON, "Content-Length: 0x1d") + rexBody,
		"another coding":        request("POST /pets", authorized, isJSON, "Transfer-Encoding: gzip, chunked") + chunked(rexBody, 9),
		"coding in disguise":    request("POST /pets", authorized, isJSON, "Transfer-Encoding : chunked") + chunked(rexBody, 9),
		"two codings":           request("POST /pets", authorized, isJSON, isChunked, isChunked) + chunked(rexBody, 9),
		"chunked not last":      request("POST /pets", authorized, isJSON, "Transfer-Encoding: chunked, identity") + chunked(rexBody, 9),
		"space before colon":    request("POST /pets", "Authorization : Bearer key-1", isJSON, n) + rexBody,
		"line feed in a field":  request("POST /pets", authorized, isJSON, n, "X: a\nY: b\x00") + rexBody,
		"no host":               "POST /pets HTTP/1.1\r\n" + authorized + "\r\n" + isJSON + "\r\n" + n + "\r\n\r\n" + rexBody,
		"two hosts":             request("POST /pets", authorized, isJSON, n, "Host: i") + rexBody,
		"no version":            "POST /pets\r\n" + authorized + "\r\n\r\n" + rexBody,
		"unknown version":       strings.Replace(post("/pets", rexBody), "HTTP/1.1", "HTTP/9.9", 1),
		"space in the target":   post("/pets /x", rexBody),
		"control in the target": post("/pets\x01", rexBody),
		"bad escape":            post("/pet%7", rexBody),
		"unknown expectation":   post("/pets", rexBody, "Expect: magic"),
		"huge header":           post("/pets", rexBody, "X: "+strings.Repeat("x", 2<<20)),
		"many fields":           post("/pets", rexBody, strings.Repeat("X: y\r\n", 300_000)+"X: y"),
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, s.addr, raw)
			if a.status < 400 || a.status > 505 || a.status == 500 {
				t.Errorf("status %d %q", a.status, a.body)
			}
			if a.header.Get("X-Request-ID") != "" {
				return
			}
			described := strings.Contains(plain, strconv.Itoa(a.status))
			if !described || a.body != "" && !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
				t.Errorf("net/http returns %d, %v; the document describes it: %t", a.status, a.header, described)
			}
		})
	}
	if got := s.stats(t).Pets; got != 0 {
		t.Errorf("%d pets, want none", got)
	}
	// net/http reads this one as chunked, as RFC 9112, section 6.3, requires:
	// one pet, and no second request in what the length would leave.
	a := send(t, s.addr, request("POST /pets", authorized, isJSON, "Content-Length: 4", isChunked)+chunked(rexBody, 9))
	if err := a.check(want{status: 201}); err != nil {
		t.Error(err)
	}
}

// TestOldHTTP: HTTP/1.0 has no keep-alive unless it asks, and no chunks.
func TestOldHTTP(t *testing.T) {
	s := newServer(t, nil)
	old := func(raw string) string { return strings.Replace(raw, "HTTP/1.1", "HTTP/1.0", 1) }
	s.run([]rawCase{
		{"create", old(post("/pets", rexBody)), want{status: 201}},
		{"get", old(get("/pets/1")), want{status: 200}},
		{"refused", old(request("GET /pets")), want{status: 401, code: "unauthorized"}},
		{"no length", old(request("POST /pets", authorized, isJSON)) + rexBody, bad("body: is missing")},
	})
}

// TestSlowBody: a body that does not come within the server's time limit gets a
// response, and nothing is stored.
func TestSlowBody(t *testing.T) {
	store := memory.New(nil)
	s := &server{t, store, listen(t, newHandler(store, testKeys, &httpapi.Options{}), func(srv *http.Server) {
		srv.ReadTimeout = 300 * time.Millisecond
	})}
	for _, raw := range []string{
		request("POST /pets", authorized, isJSON, "Content-Length: 29") + rexBody[:20],
		request("POST /pets", authorized, isJSON, "Transfer-Encoding: chunked") + "1d\r\n" + rexBody[:20],
	} {
		conn, br := dial(t, s.addr)
		_, _ = io.WriteString(conn, raw)
		if r := next(t, br); r.status != 408 || !r.closes || !strings.Contains(r.body, `"request_timeout"`) {
			t.Errorf("response %+v", r)
		}
		if _, err := br.ReadByte(); err != io.EOF {
			t.Errorf("the connection stays open: %v", err)
		}
	}
	if n := s.stats(t).Pets; n != 0 {
		t.Errorf("%d pets", n)
	}
}
