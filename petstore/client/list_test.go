package client_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// The client requests the path and the query of the link to the next page, from the server
// of its base URL, if the link leads to the same host.
func TestNextLink(t *testing.T) {
	const (
		none      = ""
		malformed = "the response breaks the contract: header field Link: "
		elsewhere = "the link to the next page leads to "
	)
	for _, tt := range []struct {
		link string
		want string // what is requested after http://pets.test, or the beginning of the error
	}{
		{`<?page=2#x>; rel="next"`, "/v1/pets?page=2"},
		{`<https://PETS.test:8443/v1/pets?page=2>; rel="next"`, "/v1/pets?page=2"},
		{`</v1/pets/page/2>; rel="next"`, "/v1/pets/page/2"},
		{`</v1/stores/9/pets?page=2>; rel="next"`, "/v1/stores/9/pets?page=2"},
		{`<pages/%2F2?limit=1&status=pending>; rel="next"`, "/v1/pages/%2F2?limit=1&status=pending"},
		{`<http://user:password@pets.test/pages/2>; rel="next"`, "/pages/2"},
		{`<?c=a+b%20/d==&&e;[f]>; rel="next"`, "/v1/pets?c=a+b%20/d==&&e;[f]"},
		{`<>; rel="next"`, "/v1/pets?limit=9&status=sold"}, // All follows it once

		{`</docs>; rel="help", <?page=1>;rel=prev , ,<?page=2>;rel=next,</x>;rel=last`, "/v1/pets?page=2"},
		{"\t<?page=2> ;\tREL = \"Last  Next\" ; title=x", "/v1/pets?page=2"},
		{`<?page=2>; title="a, <b>; rel=\"prev\"; c"; flag;; rel="ne\xt"`, "/v1/pets?page=2"},
		{`<?page=2>; title="x; rel=next"; rel=prev; rel=next`, none},
		{`<?page=2>; rel='next'`, none}, // a token with these characters
		{`<?page=2>; rel="nextish"`, none},
		{`</s.css>; rel=preload; as=style; type=text/css, < ?page=2 >; rel=next; results=true; cursor=0:100:0; title=café`, "/v1/pets?page=2"},
		{`</x>; rel=http://example.com/rel; media=(min-width:100px), <?page=2>; rel="next"`, "/v1/pets?page=2"},
		{" , ", none},

		{`/v1/pets?page=2; rel="next"`, malformed},
		{`<?page=2; rel="next"`, malformed},
		{`<?page=2> rel="next"`, malformed},
		{`<?page=2>; rel="next`, malformed},
		{`<?page=2>; rel:next`, malformed},
		{`<?page=2>; rel=`, malformed},
		{`</docs>; rel="help", rel="next"`, malformed},
		{`<http://[?page=2>; rel="next"`, malformed},

		{`<http://other.test/v1/pets?page=2>; rel="next"`, elsewhere + "http://other.test/v1/pets?page=2, which has another host than the base URL http://pets.test/v1"},
		{`<//pets.test@other.test/v1/pets>; rel="next"`, elsewhere},
		{`<mailto:pets@pets.test>; rel="next"`, elsewhere},
	} {
		var got string
		c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
			got = strings.TrimPrefix(r.URL.String(), "http://pets.test")
			return respond(200, "[]", "Link", `</docs>; rel="help"`, "Link", tt.link)(r)
		})
		q := petstore.ListQuery{Limit: 9, Status: petstore.StatusSold}
		page, err := c.ListPets(ctx, q)
		if (err == nil) == (tt.want == malformed) {
			t.Errorf("%s: the first page: %v", tt.link, err)
		}
		got = ""
		if q.After = page.Next; q.After != "" {
			_, err = c.ListPets(ctx, q)
		}
		if err != nil && petstore.CodeOf(err) == petstore.CodeInternal && got == "" && strings.HasPrefix(err.Error(), tt.want) {
			continue
		}
		if got != tt.want || err != nil {
			t.Errorf("%s: requested %s (%v), want %s", tt.link, got, err, tt.want)
		}
	}
}

// The client does not send a cursor that it did not return, nor one of a client of
// another server.
func TestCursor(t *testing.T) {
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		t.Errorf("requested %s", r.URL)
		return okay(r)
	})
	for cursor, want := range map[petstore.Cursor]petstore.Code{
		"x": petstore.CodeInvalid, "cursor=abcdef": petstore.CodeInvalid, petstore.CursorAfter(7): petstore.CodeInvalid,
		encode("pets?page=2"): petstore.CodeInvalid, encode("//other.test/v1/pets"): petstore.CodeInvalid,
		encode("http://other.test/v1/pets"): petstore.CodeInternal,
	} {
		if _, err := c.ListPets(ctx, petstore.ListQuery{After: cursor}); petstore.CodeOf(err) != want {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
}

func encode(text string) petstore.Cursor {
	return petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(text)))
}

// All follows no link twice, so it ends.
func TestCycle(t *testing.T) {
	for _, tt := range []struct {
		next map[string]string // the query of the next page
		want int               // requests
	}{
		{map[string]string{"limit=100": "limit=100"}, 2},
		{map[string]string{"limit=100": "a", "a": "b", "b": "a"}, 3},
	} {
		requests := 0
		c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
			requests++
			return respond(200, `[]`, "Link", "<?"+tt.next[r.URL.RawQuery]+`>; rel="next"`)(r)
		})
		var last error
		for _, last = range c.All(ctx, petstore.ListQuery{}) {
		}
		if requests != tt.want || petstore.CodeOf(last) != petstore.CodeInternal || !strings.Contains(last.Error(), "already read") {
			t.Errorf("%v: %d requests, want %d; error %v", tt.next, requests, tt.want, last)
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
		{2, 9, `[9 0 8 -1] invalid ["limit=2" "page=1" "page=2"]`},
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
