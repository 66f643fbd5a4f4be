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

// TestMalformedHTTP: net/http refuses these before the handler runs, with plain
// text, as the OpenAPI document says.
func TestMalformedHTTP(t *testing.T) {
	s := newServer(t, nil)
	_, described, _ := strings.Cut(ourDocument(t).Info.Description, "malformed as HTTP")
	described, _, _ = strings.Cut(described, "\n\n")
	for _, raw := range []string{
		post("/pets", rexBody, "Host: i"),
		post("/pets\x01", rexBody),
		post("/pet%7", rexBody),
		post("/pets", rexBody, "Expect: magic"),
		post("/pets", rexBody, "X: "+strings.Repeat("x", 2<<20)),
		post("/pets", rexBody, strings.Repeat("X: y\r\n", 300_000)+"X: y"),
		request("POST /pets", authorized, isJSON, "Transfer-Encoding: gzip, chunked") + chunked(rexBody, 9),
		strings.Replace(post("/pets", rexBody), "HTTP/1.1", "HTTP/9.9", 1),
	} {
		r := send(t, s.addr, raw)
		if r.Status < 400 || !strings.Contains(described, strconv.Itoa(r.Status)) {
			t.Errorf("%.100q: status %d, which the document does not describe", raw, r.Status)
		}
		if r.Header.Get("X-Request-ID") != "" || r.Body != "" && !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%.100q: not the response of net/http: %+v", raw, r)
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
