package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// TestForeignCursor: a service's cursor may be any text, and the link contains all
// of it.
func TestForeignCursor(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked recorder[any]
	s := newServer(t, nil)
	s.h = httpapi.New(double{page: petstore.Page{Next: cursor}, do: func(_ context.Context, q any) error { asked.add(q); return nil }}, testKeys, nil)
	link := send(t, s.h, get("/pets?limit=3")).Header.Get("Link")
	target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok || strings.ContainsAny(target, "<> \"") {
		t.Fatalf("Link: %s", link)
	}
	s.want(found, get("/pets"+target))
	if diff := cmp.Diff([]any{petstore.ListQuery{Limit: 3}, petstore.ListQuery{Limit: 3, After: cursor}}, asked.take()); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}

// FuzzListQuery: a query means what url.ParseQuery returns for it, but that refuses more
// than 10,000 parameters.
func FuzzListQuery(f *testing.F) {
	for _, query := range []string{"limit=3&status=sold&cursor=%41+", "limit", "l%69mit=7&x=%zz", "status=sold;", "&a&=&limit=1&limit=1", "limit=0", "status=x"} {
		f.Add(query)
	}
	var asked recorder[any]
	h := httpapi.New(double{do: func(_ context.Context, q any) error { asked.add(q); return nil }}, testKeys, nil)
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

// TestList follows the links of a list to its end.
func TestList(t *testing.T) {
	s := newServer(t, nil)
	statuses := append(petstore.Statuses(), "")
	for i := range 120 {
		if _, err := s.store.CreatePet(t.Context(), petstore.NewPet{Status: statuses[i%4]}, petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
	}
	for query, c := range map[string]struct {
		status petstore.Status
		limit  int
		filter string // in the links
	}{
		"": {"", 20, ""}, "?l%69mit=%35&x&&=": {"", 5, ""}, "?limit=007&Limit=0&Status=x": {"", 7, ""}, "?limit=1": {"", 1, ""}, "?limit=100": {"", 100, ""},
		"?status=s%6Fld": {"sold", 20, "&status=sold"}, "?status=pending&limit=30": {"pending", 30, "&status=pending"},
	} {
		var want, got []int64
		for i := range 120 {
			if c.status == "" || statuses[i%4] == c.status {
				want = append(want, int64(i+1))
			}
		}
		for target := "/pets" + query; target != ""; {
			r := send(t, s.h, get(target))
			var pets []petstore.Pet
			if err := json.Unmarshal([]byte(r.Body), &pets); err != nil || r.Status != 200 || len(pets) > c.limit {
				t.Fatalf("%s: status %d, %d pets (%v)", target, r.Status, len(pets), err)
			}
			for _, p := range pets {
				got = append(got, p.ID)
			}
			next, link := "", ""
			if len(got) < len(want) && len(pets) > 0 {
				next = fmt.Sprintf("?limit=%d%s&cursor=%s", c.limit, c.filter, petstore.CursorAfter(pets[len(pets)-1].ID))
				link = "<" + next + `>; rel="next"`
				next = "/pets" + next
			}
			if r.Header.Get("Link") != link {
				t.Fatalf("%s: Link %s, want %s", target, r.Header.Get("Link"), link)
			}
			target = next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	end := `[{"id":120,"name":"","categoryId":0}]`
	s.want(want{status: 200, body: end}.with("Link", ""), get("/pets?cursor="+string(petstore.CursorAfter(119))))
}
