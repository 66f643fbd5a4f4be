package httpapi_test

import (
	"testing"
	"time"

	"example.com/animalstore/petstore/httpapi"
)

// deprecated returns w with the header fields that every response of GET
// /pets/{petId} has.
func deprecated(w want, date string) want {
	return w.with("Deprecation", date).with("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT").with("Link", `<../pets>; rel="successor-version"`)
}

// TestDeprecation: every response of GET /pets/{petId}, of any status, says that
// it is deprecated and what replaces it. No other response does.
func TestDeprecation(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	s.want(deprecated(found, "@1795132800"), get("/pets/1"))
	s.want(deprecated(refused(404, ""), "@1795132800"), get("/pets/2"), get("/pets/x"))
	s.want(deprecated(refused(401, ""), "@1795132800"), request("GET /pets/1"))
	not := func(w want) want { return w.with("Deprecation", "").with("Sunset", "").with("Link", "") }
	s.want(not(refused(405, "")), request("PUT /pets/1", authorized))
	s.want(not(noPath), get("/pets/1/"))
	s.want(not(found), get("/pets"))
	s.want(not(created), post("/pets", rexBody))
	s.want(not(accepted), post("/messages", messageBody))

	s = newServer(t, &httpapi.Options{Deprecation: time.Date(2027, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))})
	s.want(deprecated(refused(404, ""), "@1798855445"), get("/pets/1"))
}

func TestSunset(t *testing.T) {
	sunset := time.Date(2030, 12, 5, 0, 0, 0, 0, time.UTC)
	rex := want{status: 200, body: `{"id":1,"name":"rex","categoryId":0}`}
	gone := deprecated(refused(410, "GET /pets"), "@1795132800")
	for _, c := range []struct {
		now  time.Time
		gone bool
		want want
	}{
		{sunset.Add(-time.Nanosecond), true, rex},
		{sunset, true, gone},
		{sunset.In(time.FixedZone("", -8*3600)), true, gone},
		{sunset.AddDate(1, 0, 0), true, gone},
		{sunset.AddDate(1, 0, 0), false, rex},
	} {
		s := newServer(t, &httpapi.Options{SunsetGone: c.gone, Now: func() time.Time { return c.now }})
		s.add("rex")
		s.want(c.want, get("/pets/1"))
		s.want(refused(401, ""), request("GET /pets/1"))
		s.want(found, get("/pets"))
		s.want(created, post("/pets", rexBody))
	}
}
