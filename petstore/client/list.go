package client

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
)

// All returns the pets of q on all pages, from q.After on, in the server's order. A page has
// q.Limit pets, or 100 if that is 0. All returns the whole list, or an error, which is last. A
// link that it has already followed is an error.
func (c *Client) All(ctx context.Context, q petstore.ListQuery) iter.Seq2[petstore.Pet, error] {
	if q.Limit == 0 {
		q.Limit = petstore.MaxLimit
	}
	return func(yield func(petstore.Pet, error) bool) {
		q := q // a second range over the sequence starts again
		for followed := (map[petstore.Cursor]bool{}); ; followed[q.After] = true {
			page, err := c.ListPets(ctx, q)
			if err == nil && followed[page.Next] {
				err = petstore.Errorf(petstore.CodeInternal, "the link to the next page was already followed")
			}
			if err != nil {
				yield(petstore.Pet{}, err)
				return
			}
			for _, pet := range page.Pets {
				if !yield(pet, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// ListPets implements [petstore.Service], except that pets are in the server's order. A
// Link that is malformed, or leads to a next page at another scheme, host or port, is an error.
// With q.After, the link decides the limit and the status.
func (c *Client) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	u := c.pets.JoinPath("pets")
	u.RawQuery = "limit=" + strconv.Itoa(q.Limit)
	if q.Status != "" {
		u.RawQuery += "&status=" + string(q.Status)
	}
	if q.After != "" {
		target, err := base64.RawURLEncoding.DecodeString(string(q.After))
		next, err2 := nextURL(c.pets, string(target))
		if err != nil || err2 != nil || next.RequestURI() != string(target) {
			return petstore.Page{}, petstore.Errorf(petstore.CodeInvalid, "cursor: must be one that this client returned")
		}
		u = next
	}
	return do(ctx, c, request{url: u}, func(h http.Header, list []petjson.Members) (page petstore.Page, err error) {
		if list == nil {
			return page, errors.New("the list must be an array, not null")
		}
		page.Pets = make([]petstore.Pet, len(list))
		for i, w := range list {
			if page.Pets[i], err = decodePet(w); err != nil {
				return page, err
			}
		}
		page.Next, err = nextPage(u, h)
		return page, err
	})
}

// A link is a target with parameters, such as <?page=2>; title="x"; rel="next" (RFC 8288).
const (
	value     = `(?:"(?:[^"\\]|\\.)*"|[^\s;,"<>]+)`
	parameter = `(?:\s*;\s*(?:[\w!#$%&'*+.^|~` + "`" + `-]+(?:\s*=\s*` + value + `)?)?)`
	firstRel  = parameter + `*?\s*;\s*(?i:rel)\s*=\s*(` + value + `)`
)

var (
	link   = regexp.MustCompile(`^\s*(?:<([^<>]*)>(?:` + firstRel + `)?` + parameter + `*\s*)?(?:,|$)`)
	quotes = strings.NewReplacer(`"`, "", `\`, "")
)

// nextPage returns the first link to a next page in the header of page, or "".
func nextPage(page *url.URL, h http.Header) (next petstore.Cursor, err error) {
	for _, rest := range h.Values("Link") {
		for rest != "" {
			m := link.FindStringSubmatch(rest)
			if m == nil {
				return "", errors.New(`header field Link: must be like <?page=2>; rel="next"`)
			}
			rest = rest[len(m[0]):]
			if rel := strings.ToLower(quotes.Replace(m[2])); next == "" && slices.Contains(strings.Fields(rel), "next") {
				u, err := nextURL(page, m[1])
				if err != nil {
					return "", err
				}
				next = petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(u.RequestURI())))
			}
		}
	}
	return next, nil
}

// nextURL returns the URL of a link on a page, which must be of the same server.
func nextURL(page *url.URL, link string) (*url.URL, error) {
	u, err := page.Parse(link)
	same := err == nil && u.Scheme == page.Scheme && strings.EqualFold(u.Host, page.Host)
	if !same || strings.HasPrefix(u.Path, "//") { // in a cursor, a host would follow the slashes
		err = errors.New("the link to the next page must be a URL of the same server: " + link)
	}
	return u, err
}
