package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// The next request uses only the query of the next link.
func TestNextLink(t *testing.T) {
	for _, tt := range []struct {
		name, link string
		want       string // the next request's query, without limit and status; "": there is none
	}{
		{"another path and host", `<https://internal:8080/a/pets?page=2#x>; rel="next"`, "page=2"},
		{"another limit and status", `<?limit=1&page=2&status=pending&%6cimit=3>; rel="next"`, "page=2"},
		{"only limit and status", `<?limit=5&status=sold>; rel="next"`, ""},
		{"no query", `</pets/page/2>; rel="next"`, ""},
		{"unusual bytes", `<?c=a+b%20/d==&&e>; rel="next"`, "c=a+b+%2Fd%3D%3D&e="},
		{"in a list of links", `</docs>; rel="help", <?page=1>;rel=prev , <?page=2>;rel=next,</x>;rel=last`, "page=2"},
		{"capitals and white space", "\t<?page=2> ;\tREL = \"Next\" ; title=x", "page=2"},
		{"several relations", `<?page=2>; rel="last  next"`, "page=2"},
		{"a parameter before it", `<?page=2>; title="a, <b>; rel=\"prev\"; c"; flag; rel="next"`, "page=2"},
		{"in the title", `<?page=2>; title="x; rel=next"; rel=prev`, ""},
		{"rel twice", `<?page=2>; rel=prev; rel=next`, ""},
		{"a longer relation", `<?page=2>; rel="nextish"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
				query := r.URL.Query()
				if query.Get("limit") != "9" || query.Get("status") != "sold" || r.URL.Host != "pets.test" || r.URL.Path != "/v1/pets" {
					t.Errorf("requested %s", r.URL)
				}
				query.Del("limit")
				query.Del("status")
				got = query.Encode()
				return respond(200, "[]", "Link", `</docs>; rel="help"`, "Link", tt.link)(r)
			})
			q := petstore.ListQuery{Limit: 9, Status: petstore.StatusSold}
			page, err := c.ListPets(ctx, q)
			if err != nil || (page.Next == "") != (tt.want == "") {
				t.Fatalf("ListPets: %+v, %v", page, err)
			}
			if q.After = page.Next; q.After == "" {
				return
			}
			page, err = c.ListPets(ctx, q)
			if got != tt.want || err != nil {
				t.Errorf("requested %s (%v), want %s", got, err, tt.want)
			}
			if page.Next != "" {
				t.Error("a link to the same page has a cursor")
			}
		})
	}
}

// A malformed link to the next page is an error, not the end of the list.
func TestMalformedLink(t *testing.T) {
	for _, target := range []string{"http://[?page=2", "?page=%zz"} {
		_, err := newClient(t, nil, respond(200, "[]", "Link", "<"+target+`>; rel="next"`)).ListPets(ctx, petstore.ListQuery{})
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), "the response breaks the contract: Link: ") {
			t.Errorf("%s: the error is %v", target, err)
		}
	}
}

// The client does not send a cursor that it did not return.
func TestCursor(t *testing.T) {
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		t.Errorf("requested %s", r.URL)
		return okay(r)
	})
	for _, cursor := range []petstore.Cursor{"x", "cursor=abcdef", "YSBi", "YT0mJmI9", "YT0leno", petstore.CursorAfter(7)} {
		if _, err := c.ListPets(ctx, petstore.ListQuery{After: cursor}); petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
}

// All requests pages only as far as they are read, and ends after the first error.
func TestAll(t *testing.T) {
	var requests []string
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		requests = append(requests, r.URL.RawQuery)
		page := 0
		fmt.Sscanf(r.URL.Query().Get("page"), "%d", &page)
		if page == 2 {
			return respond(400, "")(r)
		}
		body := fmt.Sprintf(`[{"id":%d,"name":"","categoryId":1},{"id":%d,"name":"","categoryId":1}]`, 9-page, -page)
		return respond(200, body, "Link", fmt.Sprintf(`<?page=%d>; rel="next"`, page+1))(r)
	})
	read := func(q petstore.ListQuery, n int) (ids []int64, errs []error) {
		list := c.All(ctx, q)
		for range 2 { // from the start each time
			ids, errs, requests = nil, nil, nil
			for pet, err := range list {
				if err != nil {
					errs = append(errs, err)
				} else if ids = append(ids, pet.ID); len(ids) == n {
					break
				}
			}
		}
		return ids, errs
	}
	ids, errs := read(petstore.ListQuery{}, 2)
	if !slices.Equal(ids, []int64{9, 0}) || errs != nil || !slices.Equal(requests, []string{"limit=100"}) {
		t.Errorf("the first two pets are %v, with the errors %v and the requests %q", ids, errs, requests)
	}
	ids, errs = read(petstore.ListQuery{Limit: 2}, 9)
	if !slices.Equal(ids, []int64{9, 0, 8, -1}) || len(errs) != 1 || !slices.Equal(requests, []string{"limit=2", "limit=2&page=1", "limit=2&page=2"}) {
		t.Errorf("the pets are %v, with the errors %v and the requests %q", ids, errs, requests)
	}
	if _, errs := read(petstore.ListQuery{Limit: 101}, 9); len(errs) != 1 || petstore.CodeOf(errs[0]) != petstore.CodeInvalid || requests != nil {
		t.Errorf("a limit of 101: %v", errs)
	}
}
