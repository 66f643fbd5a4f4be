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

// The client follows the first link to a next page, if it leads to the same server.
func TestNextLink(t *testing.T) {
	const elsewhere = "the link to the next page leads to another server"
	for _, tt := range []struct{ link, want string }{ // want: what is requested after http://pets.test, or in the error
		{`<http://u:p@PETS.test/a/%2F2?page=2#x>; rel=next`, "/a/%2F2?page=2"},
		{`<?c=a+b%20/d==&&e;[f],g>; rel="next"`, "/v1/pets?c=a+b%20/d==&&e;[f],g"},
		{`</docs>; rel="help", <?page=1>;rel=prev ,<page/2>;rel=next,</x>;rel=last`, "/v1/page/2"},
		{"<?page=2>; title=\"x, y\" ;\tREL = \"Last Next\" ; title=x", "/v1/pets?page=2"},
		{`<?page=2>; rel="nextish next-archive", <?page=3>; title=next`, ""},

		{`<http://other.test/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<https://pets.test/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<http://pets.test:8080/v1/pets?page=2>; rel="next"`, elsewhere},
		{`<//pets.test@other.test/v1/pets>; rel="next"`, elsewhere},
		{`<http://[?page=2>; rel="next"`, "missing ']'"},
	} {
		var got string
		c := newClient(t, client.Options{}, func(r *http.Request) (*http.Response, error) {
			got = strings.TrimPrefix(r.URL.String(), "http://pets.test")
			return respond(200, "[]", "Link", `</docs>; rel="help"`, "Link", tt.link)(r)
		})
		page, err := c.ListPets(ctx, petstore.ListQuery{Limit: 9, Status: petstore.StatusSold})
		if got != "/v1/pets?limit=9&status=sold" {
			t.Errorf("requested %s", got)
		}
		if got = ""; page.Next != "" {
			_, err = c.ListPets(ctx, petstore.ListQuery{After: page.Next})
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: requested %s, want %s", tt.link, got, tt.want)
		}
		for _, target := range []string{"pets?page=2", "//other.test/v1", "http://other.test/", "@other.test/"} {
			got = ""
			after := petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(target)))
			if _, err := c.ListPets(ctx, petstore.ListQuery{After: after}); got != "" || petstore.CodeOf(err) != petstore.CodeInvalid {
				t.Errorf("the cursor of %s: requested %s (%v)", target, got, err)
			}
		}
	}
}

// All requests pages only as far as they are read, follows no link twice, and ends after the
// first error.
func TestAll(t *testing.T) {
	next := map[string]string{"limit=100": "a", "a": "b", "b": "a", "limit=2": "c", "limit=1": ""}
	var requests []string
	c := newClient(t, client.Options{}, func(r *http.Request) (*http.Response, error) {
		page := r.URL.RawQuery
		requests = append(requests, page)
		switch link, ok := next[page]; {
		case !ok:
			return respond(400, "")(r)
		case link == "":
			return respond(200, `[{"id":1,"name":"","categoryId":1}]`)(r)
		default:
			return respond(200, `[{"id":1,"name":"","categoryId":1},{"id":2,"name":"","categoryId":1}]`, "Link", "<?"+link+`>; rel="next"`)(r)
		}
	})
	for _, tt := range []struct {
		limit, n int    // n: how many pets are read
		want     string // the IDs, the code of the error, and the requests
	}{
		{0, 2, `[1 2]  [limit=100]`},
		{0, 9, `[1 2 1 2] internal [limit=100 a b]`},
		{2, 9, `[1 2] invalid [limit=2 c]`},
		{1, 9, `[1]  [limit=1]`},
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
			if got := fmt.Sprintf("%v %s %v", ids, petstore.CodeOf(last), requests); got != tt.want {
				t.Errorf("limit %d: %s, want %s", tt.limit, got, tt.want)
			}
		}
	}
}
