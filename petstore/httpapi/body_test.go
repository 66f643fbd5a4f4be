package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

const rexBody = `{"name":"rex","categoryId":1}`

func TestContentType(t *testing.T) {
	s := newServer(t, nil)
	created := want{status: 201}
	other := want{status: 415, code: "unsupported_media_type", says: "Content-Type"}
	for _, c := range []struct {
		name   string
		fields []string
		want   want
	}{
		{"plain", []string{"Content-Type: application/json"}, created},
		{"upper case", []string{"Content-Type: APPLICATION/JSON"}, created},
		{"field name in lower case", []string{"content-type: application/json"}, created},
		{"charset", []string{"Content-Type: application/json; charset=utf-8"}, created},
		{"charset, other case", []string{"Content-Type: application/json;Charset=UTF-8"}, created},
		{"charset, quoted", []string{`Content-Type: application/json; charset="utf-8"`}, created},
		{"charset, given twice alike", []string{"Content-Type: application/json; charset=utf-8; charset=utf-8"}, created},
		{"other parameters", []string{"Content-Type: application/json; profile=x; odata=y"}, created},
		{"semicolon at the end", []string{"Content-Type: application/json;"}, created},
		{"white space", []string{"Content-Type: \t application/json ; charset=utf-8 \t"}, created},
		{"identity coding", []string{isJSON, "Content-Encoding: identity"}, created},
		{"empty coding", []string{isJSON, "Content-Encoding:"}, created},

		{"none", nil, bad("Content-Type")},
		{"empty", []string{"Content-Type:"}, bad("Content-Type")},
		{"two fields", []string{isJSON, isJSON}, bad("Content-Type")},
		{"two fields, one other", []string{isJSON, "Content-Type: text/plain"}, bad("Content-Type")},

		{"text", []string{"Content-Type: text/plain"}, other},
		{"text of JSON", []string{"Content-Type: text/json"}, other},
		{"form", []string{"Content-Type: application/x-www-form-urlencoded"}, other},
		{"multipart", []string{"Content-Type: multipart/form-data; boundary=x"}, other},
		{"structured suffix", []string{"Content-Type: application/vnd.api+json"}, other},
		{"prefix", []string{"Content-Type: application/jsonx"}, other},
		{"wildcard", []string{"Content-Type: */*"}, other},
		{"list", []string{"Content-Type: application/json, text/plain"}, other},
		{"no subtype", []string{"Content-Type: application"}, other},
		{"no type", []string{"Content-Type: /json"}, other},
		{"only a parameter", []string{"Content-Type: ;charset=utf-8"}, other},
		{"quoted", []string{`Content-Type: "application/json"`}, other},
		{"another charset", []string{"Content-Type: application/json; charset=iso-8859-1"}, other},
		{"utf8", []string{"Content-Type: application/json; charset=utf8"}, other},
		{"utf-16", []string{"Content-Type: application/json; charset=utf-16"}, other},
		{"empty charset", []string{`Content-Type: application/json; charset=""`}, other},
		{"charset without value", []string{"Content-Type: application/json; charset"}, other},
		{"two charsets", []string{"Content-Type: application/json; charset=UTF-8; charset=x"}, other},
		{"bad parameter", []string{"Content-Type: application/json; =x"}, other},
		{"gzip", []string{isJSON, "Content-Encoding: gzip"},
			want{status: 415, code: "unsupported_media_type", says: "Content-Encoding"}},
		{"identity and gzip", []string{isJSON, "Content-Encoding: identity, gzip"},
			want{status: 415, code: "unsupported_media_type", says: "Content-Encoding"}},
		{"two codings", []string{isJSON, "Content-Encoding: identity", "Content-Encoding: br"},
			want{status: 415, code: "unsupported_media_type", says: "Content-Encoding"}},
	} {
		message := c.want
		if message.status == 201 {
			message.status = 202
		}
		s.run([]rawCase{
			{c.name, postBare("/pets", rexBody, append(c.fields, authorized)...), c.want},
			{c.name + ", message", postBare("/messages", `{"message":"m"}`, append(c.fields, authorized)...), message},
		})
	}
	s.run([]rawCase{
		{"none, and no body", request("POST /pets", authorized), bad("Content-Type")},
		{"of a GET does not matter", get("/pets", "Content-Type: text/plain"), want200},
	})
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
	const isChunked = "Transfer-Encoding: chunked"
	line := "POST /pets"
	created := want{status: 201}
	for _, c := range []struct {
		opts  *httpapi.Options
		limit int
	}{
		{nil, 1 << 20},
		{&httpapi.Options{MaxBodyBytes: -1}, 1 << 20},
		{&httpapi.Options{MaxBodyBytes: 64}, 64},
		{&httpapi.Options{MaxBodyBytes: 3 << 20}, 3 << 20},
	} {
		large := want{status: 413, code: "body_too_large", says: "at most " + strconv.Itoa(c.limit)}
		s := newServer(t, c.opts)
		s.run([]rawCase{
			{"at the limit", post("/pets", pad(c.limit)), created},
			{"one more", post("/pets", pad(c.limit+1)), large},
			{"twice as much", post("/pets", pad(2*c.limit)), large},
			{"chunked, at the limit", request(line, authorized, isJSON, isChunked) + chunked(pad(c.limit), 1000), created},
			{"chunked, one more", request(line, authorized, isJSON, isChunked) + chunked(pad(c.limit+1), 1000), large},
			{"one large chunk", request(line, authorized, isJSON, isChunked) + chunked(pad(2*c.limit), 2*c.limit), large},
			{"announced only", request(line, authorized, isJSON, "Content-Length: 9223372036854775807"), large},
			{"message", post("/messages", pad(c.limit+1)), large},
		})
	}
}

// TestBodySizeOfMiddleware: a limit set by middleware holds too.
func TestBodySizeOfMiddleware(t *testing.T) {
	store := memory.New(nil)
	s := &server{t, store, listen(t, http.MaxBytesHandler(newHandler(store, testKeys, nil), 20))}
	large := want{status: 413, code: "body_too_large", says: "at most 20 bytes"}
	s.run([]rawCase{
		{"more", post("/pets", rexBody), large},
		{"chunked", request("POST /pets", authorized, isJSON, "Transfer-Encoding: chunked") + chunked(rexBody, 9), large},
		{"not more", post("/messages", `{"message":"hello"}`), want{status: 202}},
	})
}

// TestBodyFraming: a body that ends early or is framed wrongly is never read as
// a whole one.
func TestBodyFraming(t *testing.T) {
	s := newServer(t, nil)
	const isChunked = "Transfer-Encoding: chunked"
	head := request("POST /pets", authorized, isJSON, isChunked)
	s.run([]rawCase{
		{"chunks of one byte", head + chunked(rexBody, 1), want{status: 201}},
		{"chunk extension", head + "1d;x=y\r\n" + rexBody + "\r\n0\r\n\r\n", want{status: 201}},
		{"trailer", head + "1d\r\n" + rexBody + "\r\n0\r\nX: y\r\n\r\n", want{status: 201}},
		{"no chunk", head + "0\r\n\r\n", bad("body: is missing")},
		{"bad chunk size", head + "zz\r\n" + rexBody, bad("body: broke off, or was malformed, after 0 bytes")},
		{"negative chunk size", head + "-1\r\n" + rexBody, bad("body: broke off")},
		{"chunk longer than said", head + "2\r\n" + rexBody + "\r\n0\r\n\r\n", bad("body: broke off")},
		{"no length", request("POST /pets", authorized, isJSON), bad("body: is missing")},
		{"length zero", request("POST /pets", authorized, isJSON, "Content-Length: 0"), bad("body: is missing")},
		{"length too short", request("POST /pets", authorized, isJSON, "Content-Length: 28", "Connection: close") + rexBody, bad("byte 28")},
	})
	// These end with the client's side closed, which may cut off the response
	// too. What matters is that nothing is stored.
	for _, raw := range []string{
		request("POST /pets", authorized, isJSON, "Content-Length: 30") + rexBody,
		head + "1d\r\n" + rexBody + "\r\n",
		head + "1d\r\n" + rexBody,
		head + "40\r\n" + rexBody,
	} {
		before := s.stats(t)
		conn, br := dial(t, s.addr)
		_, _ = io.WriteString(conn, raw)
		_ = conn.CloseWrite()
		if a, err := read(br, "POST"); err == nil {
			if err := a.check(bad("body: broke off")); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
		}
		if after := s.stats(t); after != before {
			t.Errorf("%q: stored: %+v", raw, after)
		}
	}
}
