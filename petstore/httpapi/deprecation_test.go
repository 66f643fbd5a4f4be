package httpapi_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// deprecated returns w with the header fields that every response of GET
// /pets/{petId} has.
func deprecated(w want) want {
	return w.with("Deprecation", "@1795132800").with("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT").with("Link", `<../pets>; rel="successor-version"`)
}

// TestDeprecation: every response of GET /pets/{petId}, of any status, says that
// it is deprecated and what replaces it. No other response does.
func TestDeprecation(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	s.want(deprecated(found), get("/pets/1"))
	s.want(deprecated(refused(404, "")), get("/pets/2"), get("/pets/x"))
	s.want(deprecated(refused(401, "")), request("GET /pets/1"))
	not := func(w want) want { return w.with("Deprecation", "").with("Sunset", "").with("Link", "") }
	s.want(not(refused(405, "")), request("PUT /pets/1", authorized))
	s.want(not(noPath), get("/pets/1/"))
	s.want(not(found), get("/pets"))
	s.want(not(created), post("/pets", rexBody))
	s.want(not(accepted), post("/messages", messageBody))
}

func TestSunset(t *testing.T) {
	rex := want{status: 200, body: `{"id":1,"name":"rex","categoryId":0}`}
	gone := refused(410, "GET /pets")
	for _, c := range []struct {
		until time.Duration // the sunset date
		gone  bool
		want  want
	}{
		{time.Nanosecond, true, rex},
		{0, true, gone},
		{-8760 * time.Hour, true, gone},
		{-8760 * time.Hour, false, rex},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{T: t, store: memory.New(nil)}
			s.add("rex")
			h := newHandler(s.store, testKeys, &httpapi.Options{SunsetGone: c.gone})
			time.Sleep(time.Until(time.Date(2030, 12, 5, 0, 0, 0, 0, time.UTC)) - c.until)
			for target, want := range map[string]want{"/pets/1": deprecated(c.want), "/pets": found} {
				if diff := want.diff(record(t, h, httptest.NewRequest("GET", target, nil))); diff != "" {
					t.Errorf("%s, %v before the sunset (-want +got):\n%s", target, c.until, diff)
				}
			}
		})
	}
}
