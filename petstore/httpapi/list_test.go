package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestLink: a list has a link to the page after it, which keeps the limit and the status. A
// service's cursor may be any text. The last page has no link.
func TestLink(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked recorder[petstore.ListQuery]
	s := newServer(t, nil)
	service := stub(nil)
	service.DoListPets = func(_ context.Context, q petstore.ListQuery) (petstore.Page, error) {
		asked.add(q)
		return petstore.Page{Next: cursor}, nil
	}
	s.h = httpapi.New(service, testKeys, nil)
	for target, want := range map[string]petstore.ListQuery{
		"/pets": {Limit: 20, After: cursor}, "/pets?l%69mit=7&x": {Limit: 7, After: cursor}, "/pets?status=s%6Fld&limit=3": {Limit: 3, Status: "sold", After: cursor},
	} {
		link := send(t, s.h, get(target)).Header.Get("Link")
		next, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || !strings.HasPrefix(next, "?") || strings.ContainsAny(next, "<> \"") {
			t.Fatalf("%s: Link: %s", target, link)
		}
		asked.take()
		s.want(found, get("/pets"+next))
		if diff := cmp.Diff([]petstore.ListQuery{want}, asked.take()); diff != "" {
			t.Errorf("%s: the link asks for (-want +got):\n%s", target, diff)
		}
	}
	s.h = httpapi.New(stub(nil), testKeys, nil)
	s.want(want{status: 200, body: "[]"}.with("Link", ""), get("/pets"))
}

// FuzzListQuery: a query means what url.ParseQuery returns for it, but that refuses more
// than 10,000 parameters.
func FuzzListQuery(f *testing.F) {
	for _, query := range []string{"limit=3&status=sold&cursor=%41+", "limit", "limit=07", "l%69mit=7&x=%zz", "status=sold;", "&a&=&limit=1&limit=1", "limit=0", "status=x"} {
		f.Add(query)
	}
	var asked recorder[any]
	h := httpapi.New(stub(func(_ context.Context, q any) error { asked.add(q); return nil }), testKeys, nil)
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		for _, name := range []string{"limit", "status", "cursor"} {
			if given := values[name]; err == nil && len(given) != 0 && (len(given) > 1 || given[0] == "") {
				err = errors.New("not given once")
			}
		}
		limit, limitErr := uint64(petstore.DefaultLimit), error(nil)
		if values.Has("limit") {
			limit, limitErr = strconv.ParseUint(values.Get("limit"), 10, 64)
			if strings.HasPrefix(values.Get("limit"), "0") {
				limitErr = errors.New("not in its shortest form")
			}
		}
		q := petstore.ListQuery{Limit: int(limit), Status: petstore.Status(values.Get("status")), After: petstore.Cursor(values.Get("cursor"))}
		_, rangeErr := q.Normalize()
		var want []any
		if err == nil && limitErr == nil && limit > 0 && rangeErr == nil {
			want = []any{q}
		}
		r := httptest.NewRequest("GET", "/pets", nil)
		r.URL.RawQuery = query
		resp := serve(t, h, r.WithContext(httpapi.WithAccount(t.Context(), "alice")))
		if got := asked.take(); !reflect.DeepEqual(got, want) || (resp.Status == 200) != (want != nil) {
			t.Errorf("%q: status %d, asked for %v, want %v", query, resp.Status, got, want)
		}
	})
}
