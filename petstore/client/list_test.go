package client_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The client follows the first link to a next page, if it leads to the same server. A Link that
// it cannot read is an error at once, so that no list is cut.
func TestNextLink(t *testing.T) {
	const (
		first     = "/v1/pets?limit=9&status=sold"
		broken    = "the response breaks the contract: "
		malformed = broken + "header field Link: must be like "
		elsewhere = broken + "the link to the next page must be a URL of the same server: "
	)
	for _, tt := range []struct{ link, want string }{ // want: what is requested of http://pets.test, or the error
		{`<http://u:p@PETS.test/a/%2F2?page=2#x>; rel=next`, "/a/%2F2?page=2"},
		{`<?c=a+b%20/d==&&e;[f],g>; rel="next"`, "/v1/pets?c=a+b%20/d==&&e;[f],g"},
		{`<>; rel="next"`, first},
		{`</docs>; rel="help", <?page=1>;rel=prev , ,<page/2>;rel=next,</x>;rel=last,<page/3>;rel=next`, "/v1/page/2"},
		{"\t<?page=2>\t; a = x;\tREL = \"Last  Next\" ; title=\"\"", "/v1/pets?page=2"},
		{`<?page=2>; title="x, <y>; rel=\"prev\"; z"; title*=UTF-8''%20; flag;; rel="ne\xt"`, "/v1/pets?page=2"},
		{`</s>; rel=http://h.test/rel; as=a/b; q=(x:1), <?page=2>; rel=next; results=true; title=é`, "/v1/pets?page=2"},
		{`<?page=2>; title="x; rel=next"; rel=prev; rel=next`, ""},
		{`<?page=2>; rel="nextish next-archive", <?page=3>; title=next; rel='next', `, ""},

		{`?page=2; rel="next"`, malformed},
		{`<?page=2> rel="next"`, malformed},
		{`<?page=2>; rel="next`, malformed},
		{"<?page=2>; rel=next\n\"", malformed},
		{"</a>; title=\"x\n<?page=2>; rel=next\n</b>; title=\"", malformed},

		{`<http://[?page=2>; rel="next"`, elsewhere},
		{`<http://other.test/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<https://pets.test/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<http://pets.test:8080/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<//pets.test@other.test/v1/pets>; rel="next"`, elsewhere},
		{`<http://pets.test//v1/pets?page=2>; rel="next"`, elsewhere},
	} {
		var requests []string
		c := newClient(t, client.Options{}, func(r *http.Request) (*http.Response, error) {
			requests = append(requests, strings.TrimPrefix(r.URL.String(), "http://pets.test"))
			header := []string{"Link", `</docs>; rel="help"`}
			for _, field := range strings.Split(tt.link, "\n") {
				header = append(header, "Link", field)
			}
			return respond(200, "[]", header...)(r)
		})
		page, err := c.ListPets(ctx, petstore.ListQuery{Limit: 9, Status: petstore.StatusSold})
		if page.Next != "" {
			_, err = c.ListPets(ctx, petstore.ListQuery{After: page.Next})
		}
		got, want := strings.Join(requests, " "), strings.TrimSpace(first+" "+tt.want)
		if err != nil {
			got += " " + err.Error()
		}
		if got != want && !(strings.HasPrefix(tt.want, broken) && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", tt.link, got, want)
		}
	}
}

// All requests pages only as far as they are read, follows no link twice, and ends after the
// first error. A cursor that the client has not made is an error.
func TestAll(t *testing.T) {
	next := map[string]string{"limit=100": "a", "a": "b", "b": "a", "limit=2": "c"}
	var requests []string
	c := newClient(t, client.Options{}, func(r *http.Request) (*http.Response, error) {
		page := r.URL.RawQuery
		requests = append(requests, page)
		status, header := 200, []string{}
		if next[page] != "" {
			header = []string{"Link", "<?" + next[page] + `>; rel="next"`}
		} else if page == "c" {
			status = 400
		}
		return respond(status, `[{"id":1,"name":"","categoryId":1},{"id":2,"name":"","categoryId":1,"status":null}]`, header...)(r)
	})
	for _, tt := range []struct {
		limit, n int // n: how many pets are read
		after    string
		want     string // the IDs, the code of the error, and the requests
	}{
		{0, 2, "", `[1 2]  [limit=100]`},
		{0, 9, "", `[1 2 1 2] internal [limit=100 a b]`},
		{2, 9, "", `[1 2] invalid [limit=2 c]`},
		{1, 9, "", `[1 2]  [limit=1]`},
		{101, 9, "", `[] invalid []`},
		{1, 9, "/v1/pets?b", `[1 2 1 2] internal [b a b]`},
		{1, 9, "pets?b", `[] invalid []`},
		{1, 9, "@other.test/", `[] invalid []`},
		{1, 9, "//other.test/v1", `[] invalid []`},
	} {
		after := petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(tt.after)))
		list := c.All(ctx, petstore.ListQuery{Limit: tt.limit, After: after})
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
			if got := fmt.Sprintf("%v %s %v", ids, petstore.CodeOf(last), requests); got != tt.want {
				t.Errorf("limit %d after %q: %s, want %s", tt.limit, tt.after, got, tt.want)
			}
		}
	}
}
