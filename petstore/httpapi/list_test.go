package httpapi_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestLink: a list has a link to the page after it, which keeps the limit and the status. A
// service's cursor may be any text.
func TestLink(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked petstore.ListQuery
	service := stub(nil)
	service.DoListPets = func(_ context.Context, q petstore.ListQuery) (petstore.Page, error) {
		asked = q
		return petstore.Page{Next: cursor}, nil
	}
	s := newServer(t, nil)
	s.h = httpapi.New(service, testKeys, nil)
	for target, want := range map[string]petstore.ListQuery{
		"/pets?l%69mit=7&x": {Limit: 7, After: cursor}, "/pets?status=s%6Fld&limit=3": {Limit: 3, Status: "sold", After: cursor},
	} {
		link := send(t, s.h, get(target)).Header.Get("Link")
		next, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || !strings.HasPrefix(next, "?") || strings.ContainsAny(next, "<> \"") {
			t.Fatalf("%s: Link: %s", target, link)
		}
		s.want(found, get("/pets"+next))
		if asked != want {
			t.Errorf("%s: the link asks for %+v, want %+v", target, asked, want)
		}
	}
}

// FuzzListQuery: a query means what url.ParseQuery returns for it, but that refuses more
// than 10,000 parameters.
func FuzzListQuery(f *testing.F) {
	for _, query := range []string{"limit=3&status=sold&cursor=%41+", "limit", "limit=07", "l%69mit=7&x=%zz", "status=sold;", "&a&=&limit=1&limit=1", "limit=0", "status=x"} {
		f.Add(query)
	}
	var asked any
	service := stub(nil)
	service.DoListPets = func(_ context.Context, q petstore.ListQuery) (petstore.Page, error) {
		asked = q
		return petstore.Page{}, nil
	}
	h := httpapi.New(service, testKeys, nil)
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		ok := err == nil
		for _, name := range []string{"limit", "status", "cursor"} {
			ok = ok && (!values.Has(name) || len(values[name]) == 1 && values.Get(name) != "")
		}
		q := petstore.ListQuery{Status: petstore.Status(values.Get("status")), After: petstore.Cursor(values.Get("cursor"))}
		if values.Has("limit") {
			q.Limit, _ = strconv.Atoi(values.Get("limit"))
			ok = ok && q.Limit > 0 && strconv.Itoa(q.Limit) == values.Get("limit")
		}
		q, err = q.Normalize()
		var want any
		if ok && err == nil {
			want = q
		}
		asked = nil
		resp := serveAuthorized(t, h, &http.Request{Method: "GET", URL: &url.URL{Path: "/pets", RawQuery: query}, Header: http.Header{}})
		if asked != want || (resp.Status == 200) != (want != nil) {
			t.Errorf("%q: status %d, asked for %v, want %v", query, resp.Status, asked, want)
		}
	})
}
