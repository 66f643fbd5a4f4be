package openapi

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore/petstoretest"
)

// TestTolerant: the document allows what other servers of the contract send, so
// that clients generated from it accept that.
func TestTolerant(t *testing.T) {
	j := newTolerantJudge(t)
	for where, op := range j.operations() {
		if op.Responses.Default() == nil {
			t.Errorf("%s has no default response", where)
		}
	}
	for _, d := range petstoretest.Difficulties() {
		t.Run(d.Name, func(t *testing.T) {
			srv, err := petstoretest.Start(petstoretest.Difficult(1, d.Name))
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			for i := range 12 {
				for _, c := range []struct{ method, path, body string }{
					{"POST", "/pets", fmt.Sprintf(`{"name":"pet %d","categoryId":1}`, i)},
					{"GET", "/pets?limit=2", ""},
					{"GET", "/pets?limit=2&cursor=AQAAAAAAAAACPG7zcg", ""},
					{"GET", "/pets/1", ""},
					{"GET", "/pets/none", ""},
					{"POST", "/messages", `{"message":"hello"}`},
				} {
					j.send(t, srv, c.method, c.path, c.body)
				}
			}
			for _, met := range srv.Summary().Met {
				if met.Times == 0 {
					t.Error("no response has the difficulty")
				}
			}
		})
	}
}

// send sends a request and judges its response, unless the connection is cut.
func (j *judge) send(t *testing.T, srv *petstoretest.Server, method, path, body string) {
	t.Helper()
	r := httptest.NewRequest(method, srv.URL+path, strings.NewReader(body))
	r.RequestURI = ""
	r.Header = http.Header{"Authorization": {"Bearer " + srv.Key}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return
	}
	rec := httptest.NewRecorder()
	maps.Copy(rec.Header(), resp.Header)
	rec.Code, rec.Body = resp.StatusCode, bytes.NewBuffer(got)
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/v1")
	if _, _, err := j.validate(r, []byte(body), rec); err != nil {
		t.Errorf("%s %s: %d %v\n%.300s\n%v", method, path, rec.Code, resp.Header, got, err)
	}
}
