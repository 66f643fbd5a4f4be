package httpapi_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// TestExpectContinue: a client that expects 100 gets it only if its body will be
// read.
func TestExpectContinue(t *testing.T) {
	s := newServer(t, nil)
	expect := func(line string, fields ...string) connection {
		c := dial(t, s.addr)
		c.write(request(line, append(fields, "Expect: 100-continue")...))
		return c
	}
	const length = "Content-Length: 29"
	for _, c := range []struct {
		status int
		conn   connection
	}{
		{401, expect("POST /pets", isJSON, length)},
		{401, expect("POST /pets", isJSON, length, "Authorization: Bearer nope")},
		{404, expect("POST /cats", isJSON, length, authorized)},
		{405, expect("PUT /pets", isJSON, length, authorized)},
		{400, expect("POST /pets", length, authorized)},
		{415, expect("POST /pets", "Content-Type: text/plain", length, authorized)},
		{400, expect("POST /pets", isJSON, length, authorized, "Idempotency-Key:")},
		{413, expect("POST /pets", isJSON, "Content-Length: 2000000", authorized)},
	} {
		if r := c.conn.next("POST"); r.Status != c.status || !r.Closes {
			t.Errorf("response %+v, want status %d", r, c.status)
		}
	}
	c := expect("POST /pets", isJSON, length, authorized)
	if r := c.next("POST"); r.Status != 100 {
		t.Fatalf("response %+v", r)
	}
	c.write(rexBody)
	if r := c.next("POST"); r.Status != 201 {
		t.Errorf("response %+v", r)
	}
}

// TestPipeline: requests on one connection, some of them refused, get their own
// responses in order, and no body is read as a request.
func TestPipeline(t *testing.T) {
	s := newServer(t, nil)
	smuggled := post("/pets", `{"name":"smuggled","categoryId":1}`)
	length := "Content-Length: " + strconv.Itoa(len(smuggled))
	c := dial(t, s.addr)
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
		{request("GET /pets/1", authorized, isChunked) + chunked(smuggled, 7), 200},
		{request("GET /pets/1", authorized, length) + smuggled, 200},
		{get("/pets/%31"), 200},
		{request("DELETE /pets/1", length) + smuggled, 405},
		{get("/pets"), 200},
	}
	go func() {
		for _, step := range steps {
			c.write(step.send)
		}
	}()
	for _, step := range steps {
		if r := c.next("GET"); r.Status != step.status {
			t.Fatalf("%q: response %+v", step.send, r)
		}
	}
	if got := s.stats(); got != (petstore.Stats{Pets: 1}) {
		t.Errorf("stored: %+v, want one pet", got)
	}
}

// TestAmbiguousRequests sends requests that two servers in a row might read
// differently. net/http refuses most of them before the handler runs. None of
// them stores more than one reading asks for.
func TestAmbiguousRequests(t *testing.T) {
	s := newServer(t, nil)
	const length = "Content-Length: 29"
	_, plain, _ := strings.Cut(ourDocument(t).Info.Description, "malformed as HTTP")
	plain, _, _ = strings.Cut(plain, "\n\n")
	whole := post("/pets", rexBody)
	requests := []string{
		strings.Replace(whole, "Host: h\r\n", "", 1),
		"POST /pets\r\n" + authorized + "\r\n\r\n" + rexBody,
		strings.Replace(whole, "HTTP/1.1", "HTTP/9.9", 1),
		post("/pets /x", rexBody), post("/pets\x01", rexBody), post("/pet%7", rexBody),
		request("POST /pets", "Authorization : Bearer key-1", isJSON, length) + rexBody,
	}
	for _, fields := range []string{
		"Content-Length: 5", "Host: i", "X: a\nY: b\x00", "Expect: magic",
		"X: " + strings.Repeat("x", 2<<20), strings.Repeat("X: y\r\n", 300_000) + "X: y",
	} {
		requests = append(requests, post("/pets", rexBody, fields))
	}
	for _, value := range []string{"29, 5", "+29", "-1", "0x1d"} {
		requests = append(requests, request("POST /pets", authorized, isJSON, "Content-Length: "+value)+rexBody)
	}
	for _, coding := range []string{
		"Transfer-Encoding: gzip, chunked", "Transfer-Encoding : chunked", isChunked + "\r\n" + isChunked, "Transfer-Encoding: chunked, identity",
	} {
		requests = append(requests, request("POST /pets", authorized, isJSON, coding)+chunked(rexBody, 9))
	}
	for _, raw := range requests {
		a := send(t, s.addr, raw)
		if a.Status < 400 || a.Status > 505 || a.Status == 500 {
			t.Errorf("%.200q: status %d %q", raw, a.Status, a.Body)
		}
		if a.Header.Get("X-Request-ID") != "" {
			continue
		}
		described := strings.Contains(plain, fmt.Sprint(a.Status))
		if !described || a.Body != "" && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%.200q: net/http returns %d, %v; the document describes it: %t", raw, a.Status, a.Header, described)
		}
	}
	if got := s.stats().Pets; got != 0 {
		t.Errorf("%d pets, want none", got)
	}
	// net/http reads this one as chunked, as RFC 9112, section 6.3, requires:
	// one pet, and no second request in what the length would leave.
	s.want(created, request("POST /pets", authorized, isJSON, "Content-Length: 4", isChunked)+chunked(rexBody, 9))
}

// TestOldHTTP: HTTP/1.0 has no keep-alive unless it asks, and no chunks.
func TestOldHTTP(t *testing.T) {
	s := newServer(t, nil)
	old := func(raw string) string { return strings.Replace(raw, "HTTP/1.1", "HTTP/1.0", 1) }
	s.want(created, old(post("/pets", rexBody)))
	s.want(found, old(get("/pets/1")))
	s.want(refused(401, ""), old(request("GET /pets")))
	s.want(bad("body: is missing"), old(request("POST /pets", authorized, isJSON))+rexBody)
}
