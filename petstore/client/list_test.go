package client_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/storage/memory"
)

// The next request uses only the query of the next link.
func TestNextLink(t *testing.T) {
	for _, tt := range []struct {
		name  string
		links []string
		want  string // the parameters in the next request's query that are not limit and status; "": there is none
	}{
		{"none", nil, ""},
		{"as our servers send it", []string{`<?limit=5&status=sold&cursor=AQA-_%3D>; rel="next"`}, "cursor=AQA-_%3D"},
		{"relative", []string{`<pets?page=2>; rel="next"`}, "page=2"},
		{"another path and host", []string{`<https://internal:8080/a/pets?page=2#x>; rel="next"`}, "page=2"},
		{"another limit and status", []string{`<?limit=1&page=2&status=pending&%6cimit=3>; rel="next"`}, "page=2"},
		{"only limit and status", []string{`<?limit=5&status=sold>; rel="next"`}, ""},
		{"no query", []string{`</pets/page/2>; rel="next"`}, ""},
		{"unusual bytes", []string{`<?c=a+b%20/d==&&e>; rel="next"`}, "c=a+b+%2Fd%3D%3D&e="},
		{"in a list of links", []string{`</docs>; rel="help", <?page=1>; rel="prev" , <?page=2>; rel="next",</x>;rel=last`}, "page=2"},
		{"in the second field", []string{`</docs>; rel="help"`, `<?page=2>; rel="next"`}, "page=2"},
		{"a token", []string{`<?page=2>;rel=next`}, "page=2"},
		{"a token before a comma", []string{`<?page=2>;rel=next,<?page=1>;rel=prev`}, "page=2"},
		{"capitals and white space", []string{"\t<?page=2> ;\tREL = \"Next\" ; title=x"}, "page=2"},
		{"several relations", []string{`<?page=2>; rel="last  next"`}, "page=2"},
		{"a parameter before it", []string{`<?page=2>; title="a, <b>; rel=\"prev\"; c"; flag; rel="next"`}, "page=2"},
		{"in the title", []string{`<?page=2>; title="x; rel=next"; rel=prev`}, ""},
		{"a longer relation", []string{`<?page=2>; rel="nextish"`}, ""},
		{"another parameter", []string{`<?page=2>; rev="next"`}, ""},
		{"two next links", []string{`<?page=2>; rel="next", <?page=3>; rel="next"`}, "page=2"},
		{"a target that does not end", []string{`<?page=2; rel="next"`}, ""},
		{"no brackets", []string{`?page=2; rel="next"`}, ""},
		{"empty", []string{"", ",", " , ;"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
				query := r.URL.Query()
				query.Del("limit")
				query.Del("status")
				got = query.Encode()
				if r.URL.Query().Get("limit") != "9" || r.URL.Query().Get("status") != "sold" || r.URL.Host != "pets.test" || r.URL.Path != "/v1/pets" {
					t.Errorf("requested %s", r.URL)
				}
				return handled(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Link"] = tt.links
					w.Write([]byte("[]"))
				}))(r)
			})
			q := petstore.ListQuery{Limit: 9, Status: petstore.StatusSold}
			page, err := c.ListPets(ctx, q)
			if err != nil || (page.Next == "") != (tt.want == "") {
				t.Fatalf("ListPets: %+v, %v", page, err)
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
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
	for _, target := range []string{"http://[?page=2", "?page=2;sort=id", "?page=%zz"} {
		c := offline(t, nil, handled(response(200, "[]", "Link", "<"+target+`>; rel="next"`)))
		_, err := c.ListPets(ctx, petstore.ListQuery{})
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), "the response breaks the contract: Link: ") {
			t.Errorf("%s: the error is %v", target, err)
		}
	}
}

// The client does not send a cursor that it did not return.
func TestCursor(t *testing.T) {
	requests := 0
	c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
		requests++
		return handled(response(200, "[]", "Link", `<?cursor=abcdef>; rel=next`))(r)
	})
	page, err := c.ListPets(ctx, petstore.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	next := string(page.Next)
	encode := base64.RawURLEncoding.EncodeToString
	for _, cursor := range []string{
		"x", next + "A", next + "=", next[1:], next[:len(next)-1], next[:len(next)-1] + "h", strings.ToLower(next), next + "\n", "cursor=abcdef",
		encode([]byte("a b")), encode([]byte("a=&&b=")), encode([]byte("a=%zz")),
	} {
		_, err := c.ListPets(ctx, petstore.ListQuery{After: petstore.Cursor(cursor)})
		if petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
}

// filled returns a store with n pets.
func filled(t *testing.T, n int) *memory.Store {
	t.Helper()
	store := memory.New(nil)
	for i := range n {
		if _, err := store.CreatePet(ctx, petstore.NewPet{CategoryID: int64(i), Status: append(petstore.Statuses(), "")[i%4]}, none); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// collect returns the pets of a list, and its error.
func collect(c *client.Client, q petstore.ListQuery) (pets []petstore.Pet, err error) {
	for pet, e := range c.All(ctx, q) {
		if err = e; err == nil {
			pets = append(pets, pet)
		}
	}
	return pets, err
}

// All follows links behind a proxy that rewrites paths.
func TestAll(t *testing.T) {
	store := filled(t, 230)
	var requests []string
	proxy := func(r *http.Request) (*http.Response, error) {
		requests = append(requests, r.URL.RawQuery)
		r = r.Clone(r.Context())
		r.URL.Path = strings.Replace(r.URL.Path, "/proxied/at/", "/", 1)
		return handled(handler(store))(r)
	}
	c, err := client.New("http://pets.test/proxied/at/v1/", testKey, &client.Options{HTTPClient: &http.Client{Transport: roundTripper(proxy)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		q              petstore.ListQuery
		pets, requests int
	}{
		{petstore.ListQuery{}, 230, 3},
		{petstore.ListQuery{Limit: 50}, 230, 5},
		{petstore.ListQuery{Limit: 1, Status: petstore.StatusSold}, 57, 57},
		{petstore.ListQuery{Status: petstore.StatusPending}, 58, 1},
	} {
		requests = nil
		pets, err := collect(c, tt.q)
		if err != nil || len(pets) != tt.pets || len(requests) != tt.requests {
			t.Errorf("%+v: %d pets in %d requests (%v), want %d in %d", tt.q, len(pets), len(requests), err, tt.pets, tt.requests)
		}
		if !slices.IsSortedFunc(pets, func(a, b petstore.Pet) int { return int(a.ID - b.ID) }) {
			t.Errorf("%+v: not in the server's order", tt.q)
		}
	}

	requests = nil
	list := c.All(ctx, petstore.ListQuery{Limit: 10})
	for range 2 { // from the start each time
		n := 0
		for pet, err := range list {
			if n++; err != nil || pet.ID != int64(n) {
				t.Fatalf("pet %d: %+v, %v", n, pet, err)
			}
			if n == 15 {
				break
			}
		}
	}
	if len(requests) != 4 {
		t.Errorf("requested %q, want only the pages that were read", requests)
	}
}

func TestAllError(t *testing.T) {
	n := 0
	h := handler(filled(t, 30))
	c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
		if n++; n == 2 {
			return handled(response(400, ""))(r)
		}
		return handled(h)(r)
	})
	pets, errs := 0, 0
	for _, err := range c.All(ctx, petstore.ListQuery{Limit: 20}) {
		if err != nil {
			errs++
			continue
		}
		pets++
	}
	if pets != 20 || errs != 1 {
		t.Errorf("%d pets and %d errors, want 20 and 1", pets, errs)
	}
	for _, err := range c.All(ctx, petstore.ListQuery{Limit: 101}) {
		if petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("a limit of 101: %v", err)
		}
	}
}
