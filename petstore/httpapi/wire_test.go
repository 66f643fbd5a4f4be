package httpapi_test

import (
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

// TestMalformedHTTP: net/http refuses requests that are malformed as HTTP before
// the handler runs, in plain text.
func TestMalformedHTTP(t *testing.T) {
	s := newServer(t, nil)
	for raw, status := range map[string]int{
		post("/pets", rexBody, "Host: i"):                        400,
		post("/pet%7", rexBody):                                  400,
		post("/pets", rexBody, "X: "+strings.Repeat("x", 2<<20)): 431,
		request("POST /pets", authorized, isJSON, "Transfer-Encoding: gzip, chunked") + chunked(rexBody, 9): 501,
		strings.Replace(post("/pets", rexBody), "HTTP/1.1", "HTTP/9.9", 1):                                  505,
	} {
		r := send(t, s.addr, raw)
		if r.Status != status || r.Header.Get("X-Request-ID") != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%.100q: not the response of net/http: %+v", raw, r)
		}
	}
	// net/http reads this one as chunked, as RFC 9112, section 6.3, requires:
	// one pet, and no second request in what the length would leave.
	s.want(created, request("POST /pets", authorized, isJSON, "Content-Length: 4", isChunked)+chunked(rexBody, 9))
	if got := s.stats().Pets; got != 1 {
		t.Errorf("%d pets, want one", got)
	}
}
