package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// The next request uses only the query of the next link.
func TestNextLink(t *testing.T) {
	for _, tt := range []struct {
		name, link string
		want       string // the last request's query, without limit and status, or "error"
	}{
		{"another path and host", `<https://internal:8080/a/pets?page=2#x>; rel="next"`, "page=2"},
		{"another limit and status", `<?limit=1&page=2&status=pending&%6cimit=3>; rel="next"`, "page=2"},
		{"only limit and status", `<?limit=5&status=sold>; rel="next"`, ""},
		{"unusual bytes", `<?c=a+b%20/d==&&e>; rel="next"`, "c=a+b+%2Fd%3D%3D&e="},
		{"in a list of links", `</docs>; rel="help", <?page=1>;rel=prev , <?page=2>;rel=next,</x>;rel=last`, "page=2"},
		{"capitals and white space", "\t<?page=2> ;\tREL = \"Last  Next\" ; title=x", "page=2"},
		{"a parameter before it", `<?page=2>; title="a, <b>; rel=\"prev\"; c"; flag; rel="next"`, "page=2"},
		{"in the title", `<?page=2>; title="x; rel=next"; rel=prev; rel=next`, ""},
		{"a longer relation", `<?page=2>; rel="nextish"`, ""},
		{"a malformed target", `<http://[?page=2>; rel="next"`, "error"},
		{"a malformed query", `<?page=%zz>; rel="next"`, "error"},
	} {
		var got string
		c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
			query := r.URL.Query()
			if query.Get("limit") != "9" || query.Get("status") != "sold" || r.URL.Host != "pets.test" || r.URL.Path != "/v1/pets" {
				t.Errorf("%s: requested %s", tt.name, r.URL)
			}
			query.Del("limit")
			query.Del("status")
			got = query.Encode()
			return respond(200, "[]", "Link", `</docs>; rel="help"`, "Link", tt.link)(r)
		})
		q := petstore.ListQuery{Limit: 9, Status: petstore.StatusSold}
		page, err := c.ListPets(ctx, q)
		if tt.want == "error" {
			if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), "the response breaks the contract: Link: ") {
				t.Errorf("%s: the error is %v", tt.name, err)
			}
			continue
		}
		if q.After = page.Next; q.After != "" {
			page, err = c.ListPets(ctx, q)
		}
		if got != tt.want || err != nil || page.Next != "" { // a link to the same page has no cursor
			t.Errorf("%s: requested %s (%v), want %s, and the cursor is %q", tt.name, got, err, tt.want, page.Next)
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
	for _, tt := range []struct {
		limit, n int    // n: how many pets are read
		want     string // the IDs, the code of the error, and the requests
	}{
		{0, 2, `[9 0]  ["limit=100"]`},
		{2, 9, `[9 0 8 -1] invalid ["limit=2" "limit=2&page=1" "limit=2&page=2"]`},
		{101, 9, `[] invalid []`},
	} {
		list := c.All(ctx, petstore.ListQuery{Limit: tt.limit})
		for range 2 { // from the start each time
			var ids []int64
			var last error
			requests = nil
			for pet, err := range list {
				if last = err; err == nil {
					ids = append(ids, pet.ID)
				}
				if len(ids) == tt.n {
					break
				}
			}
			if got := fmt.Sprintf("%v %s %q", ids, petstore.CodeOf(last), requests); got != tt.want {
				t.Errorf("limit %d: %s, want %s", tt.limit, got, tt.want)
			}
		}
	}
}
