package client

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/petstore"
)

// All returns the pets of q on all pages, one by one. It requests pages of q.Limit
// pets, or of 100 if q.Limit is 0, from q.After on. It returns the whole list, or at most one
// error, which is last. A link that it has already followed is an error.
//
// The contract requires neither an order nor further pages. So pets come in the
// server's order, and the list ends with the first page that has no link to a next one.
func (c *Client) All(ctx context.Context, q petstore.ListQuery) iter.Seq2[petstore.Pet, error] {
	if q.Limit == 0 {
		q.Limit = petstore.MaxLimit
	}
	return func(yield func(petstore.Pet, error) bool) {
		q := q // a second range over the sequence starts again
		followed := map[petstore.Cursor]bool{}
		for {
			page, err := c.ListPets(ctx, q)
			if err == nil && followed[page.Next] {
				err = petstore.Errorf(petstore.CodeInternal,
					"the response breaks the contract: header field Link: it leads to a page that was already read")
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
			if page.Next == "" {
				return
			}
			q.After, followed[page.Next] = page.Next, true
		}
	}
}

// ListPets implements [petstore.Service], except that pets are in the server's order: the
// contract does not define one. Page.Next is of the first link to a next page, or "" if
// there is none. A malformed Link is an error.
//
// With q.After, ListPets requests the path and the query of the link, from the server of
// c. The link decides the limit and the status; q.Status must be the same. If the link has
// another host, ListPets fails without a request. Its scheme and its port do not matter: a
// proxy may have others.
func (c *Client) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	r := c.firstPage(q)
	if q.After != "" {
		if r, err = c.nextPage(q.After); err != nil {
			return petstore.Page{}, err
		}
	}
	return do(ctx, c, r, func(resp *response) (page petstore.Page, err error) {
		if page.Pets, err = decodePets(resp.body); err != nil {
			return page, err
		}
		for i, pet := range page.Pets {
			if q.Status != "" && pet.Status != q.Status {
				return page, fmt.Errorf("%d/status: must be %q, got %q", i, q.Status, pet.Status)
			}
		}
		target, err := nextLink(resp.Header)
		if err == nil && target != nil {
			page.Next, err = resolve(r, *target)
		}
		if err != nil {
			return page, fmt.Errorf("header field Link: %w", err)
		}
		return page, nil
	})
}

func (c *Client) firstPage(q petstore.ListQuery) request {
	query := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	if q.Status != "" {
		query.Set("status", string(q.Status))
	}
	return request{url: c.base + "/pets?" + query.Encode(), status: http.StatusOK}
}

// resolve returns the cursor of a link in the response to r: its URL (RFC 3986, section 5).
func resolve(r request, target string) (petstore.Cursor, error) {
	base, err := url.Parse(r.url)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(target)
	if err != nil {
		return "", err
	}
	u.Fragment, u.RawFragment = "", ""
	return petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(u.String()))), nil
}

// nextPage returns the request for the page of a cursor.
func (c *Client) nextPage(cursor petstore.Cursor) (request, error) {
	link, err := base64.RawURLEncoding.DecodeString(string(cursor))
	u, err2 := url.Parse(string(link))
	if err != nil || err2 != nil || !u.IsAbs() {
		return request{}, petstore.Errorf(petstore.CodeInvalid, "cursor: must be one that this client returned")
	}
	if !strings.EqualFold(u.Hostname(), c.url.Hostname()) {
		return request{}, petstore.Errorf(petstore.CodeInternal,
			"the link to the next page leads to %s, which has another host than the base URL %s", c.text(u.Redacted()), c.base)
	}
	u.Scheme, u.Host, u.User = c.url.Scheme, c.url.Host, nil
	return request{url: u.String(), status: http.StatusOK}, nil
}

// A link of RFC 8288 is <target>, followed by parameters such as ; rel="next".
const (
	token     = "[\\w!#$%&'*+.^|~`-]+"
	parameter = `[ \t]*;[ \t]*(?:(` + token + `)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^ \t;,"<>]+)))?)?`
)

var (
	link       = regexp.MustCompile(`^[ \t]*<([^<>]*)>((?:` + parameter + `)*)[ \t]*(?:,|$)`)
	parameters = regexp.MustCompile(parameter)
	escaped    = regexp.MustCompile(`\\(.)`)
)

// nextLink returns the target of the link to the next page, or nil if there is none.
func nextLink(h http.Header) (target *string, err error) {
	rest := strings.Join(h.Values("Link"), ",")
	for rest = strings.TrimLeft(rest, ", \t"); rest != ""; rest = strings.TrimLeft(rest, ", \t") {
		m := link.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q does not begin with a link such as <?page=2>; rel=\"next\"", rest)
		}
		rest = rest[len(m[0]):]
		for _, p := range parameters.FindAllStringSubmatch(m[2], -1) {
			if !strings.EqualFold(p[1], "rel") {
				continue
			}
			relations := escaped.ReplaceAllString(strings.ToLower(p[2]+p[3]), "$1")
			if target == nil && slices.Contains(strings.Fields(relations), "next") {
				trimmed := strings.TrimSpace(m[1])
				target = &trimmed
			}
			break // the first rel counts
		}
	}
	return target, nil
}
