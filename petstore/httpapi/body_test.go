package httpapi_test

import (
	"fmt"
	"io"
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

// pad returns a body of n bytes.
func pad(n int) string {
	return rexBody + strings.Repeat(" ", n-len(rexBody))
}

// chunked returns a POST of body as one chunk.
func chunked(body string) string {
	return request("POST /pets", authorized, isJSON, isChunked) + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
}

func TestBodySize(t *testing.T) {
	for option, limit := range map[int64]int{0: 64 << 10, 64: 64} {
		s := newServer(t, &httpapi.Options{MaxBodyBytes: option})
		s.want(created, post("/pets", pad(limit)), chunked(pad(limit)))
		s.want(refused(413, "at most "+strconv.Itoa(limit)),
			post("/pets", pad(limit+1)), post("/messages", pad(limit+1)), chunked(pad(limit+1)),
			request("POST /pets", authorized, isJSON, "Content-Length: 9223372036854775807"))
	}
	s := newServer(t, nil)
	s.h = s.handler(stub(nil), testKeys, &httpapi.Options{MaxBodyBytes: 1 << 20})
	long := strings.Repeat("x", petstore.MaxTextBytes)
	s.want(created, post("/pets", `{"categoryId":1,"name":"`+long+`"}`))
	s.want(bad("name: must have at most 65536 bytes, got 65537"), post("/pets", `{"categoryId":1,"name":"`+long+`x"}`))
	s.want(bad("message: must have at most 65536 bytes, got 65537"), post("/messages", `{"message":"`+long+`x"}`))
	s.h = http.MaxBytesHandler(s.h, 20) // a limit set by middleware holds too
	s.want(refused(413, "at most 20 bytes"), post("/pets", rexBody), chunked(rexBody))
}

// TestLateBody: a body that does not come within the server's time limit gets a response.
func TestLateBody(t *testing.T) {
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
	waits := http.Header{"Expect": {"100-continue"}, "Authorization": {"Bearer key-1"}, "Content-Type": {"application/json"}}
	for _, c := range []struct {
		size, length int
		header       http.Header
		unread       int
	}{
		{mebi, mebi, http.Header{}, 0},
		{mebi + 1, mebi + 1, http.Header{}, mebi + 1},
		{3 * mebi, -1, http.Header{}, 2 * mebi},
		{70_000, 70_000, waits, 70_000},
	} {
		for name, h := range map[string]http.Handler{
			"handler":    httpapi.New(stub(nil), testKeys, nil),
			"WriteError": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, nil) }),
		} {
			body := strings.NewReader(strings.Repeat(" ", c.size))
			r := httptest.NewRequest("POST", "/pets", body)
			r.ContentLength, r.Header = int64(c.length), c.header
			if serve(t, h, r); body.Len() != c.unread {
				t.Errorf("%s, %+v: %d bytes are unread", name, c, body.Len())
			}
		}
	}
}
