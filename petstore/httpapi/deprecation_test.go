package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestDeprecation: every response of GET /pets/{petId}, of any status, says that
// it is deprecated and what replaces it. No other response does.
func TestDeprecation(t *testing.T) {
	fields := func(deprecation string) map[string]string {
		return map[string]string{
			"Deprecation": deprecation,
			"Sunset":      "Thu, 05 Dec 2030 00:00:00 GMT",
			"Link":        `<../pets>; rel="successor-version"`,
		}
	}
	none := map[string]string{"Deprecation": "", "Sunset": "", "Link": ""}

	s := newServer(t, nil)
	s.add("rex")
	date := fields("@1795132800")
	s.run([]rawCase{
		{"200", get("/pets/1"), want{status: 200, header: date}},
		{"404", get("/pets/2"), want{status: 404, code: "not_found", header: date}},
		{"404 for an invalid ID", get("/pets/x"), want{status: 404, code: "not_found", header: date}},
		{"401", request("GET /pets/1"), want{status: 401, code: "unauthorized", header: date}},
		{"405", request("PUT /pets/1", authorized), want{status: 405, code: "method_not_allowed", header: none}},
		{"no such path", get("/pets/1/"), want{status: 404, code: "not_found", header: none}},
		{"list", get("/pets"), want{status: 200, header: none}},
		{"create", post("/pets", `{"name":"x","categoryId":1}`), want{status: 201, header: none}},
		{"message", post("/messages", `{"message":"x"}`), want{status: 202, header: none}},
	})

	s = newServer(t, &httpapi.Options{Deprecation: time.Date(2027, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))})
	s.run([]rawCase{
		{"another date", get("/pets/1"), want{status: 404, code: "not_found", header: fields("@1798855445")}},
	})
}

func TestSunset(t *testing.T) {
	sunset := time.Date(2030, 12, 5, 0, 0, 0, 0, time.UTC)
	found := want{status: 200, body: `{"id":1,"name":"rex","categoryId":0}`}
	gone := want{status: 410, code: "gone", says: "GET /pets", header: map[string]string{
		"Deprecation": "@1795132800",
		"Sunset":      "Thu, 05 Dec 2030 00:00:00 GMT",
		"Link":        `<../pets>; rel="successor-version"`,
	}}
	for _, c := range []struct {
		name string
		now  time.Time
		gone bool
		want want
	}{
		{"before", sunset.Add(-time.Nanosecond), true, found},
		{"at", sunset, true, gone},
		{"at, in another zone", sunset.In(time.FixedZone("", -8*3600)), true, gone},
		{"after", sunset.AddDate(1, 0, 0), true, gone},
		{"after, but serving", sunset.AddDate(1, 0, 0), false, found},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := func() time.Time { return c.now }
			s := newServer(t, &httpapi.Options{SunsetGone: c.gone, Now: now})
			s.add("rex")
			s.run([]rawCase{
				{"get", get("/pets/1"), c.want},
				{"credential first", request("GET /pets/1"), want{status: 401, code: "unauthorized"}},
				{"list", get("/pets"), want200},
				{"create", post("/pets", `{"name":"x","categoryId":1}`), want{status: 201}},
			})
		})
	}
}

// TestLinkOfMiddleware: a Link that middleware has set stays, and does not get
// into another response.
func TestLinkOfMiddleware(t *testing.T) {
	h := httpapi.New(memory.New(nil), testKeys, nil)
	addr := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Add("Link", `<?>; rel="`+r.URL.RawQuery+`"`)
		}
		h.ServeHTTP(w, r)
		w.Header().Add("Link", "too late")
	}))
	const successor = `<../pets>; rel="successor-version"`
	for query, link := range map[string]string{"": successor, "a": `<?>; rel="a" | ` + successor, "b": `<?>; rel="b" | ` + successor} {
		w := want{status: 404, code: "not_found", header: map[string]string{"Link": link}}
		if err := send(t, addr, get("/pets/1?"+query)).check(w); err != nil {
			t.Error(err)
		}
	}
}
