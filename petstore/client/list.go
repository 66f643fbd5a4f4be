package client

import (
	"context"
	"encoding/base64"
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
// pets, or of 100 if q.Limit is 0. It ends after the first error.
//
// The contract requires neither an order nor further pages. So pets come in the
// server's order, and if the server has no further pages, All ends after the first
// one.
func (c *Client) All(ctx context.Context, q petstore.ListQuery) iter.Seq2[petstore.Pet, error] {
	if q.Limit == 0 {
		q.Limit = petstore.MaxLimit
	}
	return func(yield func(petstore.Pet, error) bool) {
		q := q // a second range over the sequence starts again
		for {
			page, err := c.ListPets(ctx, q)
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

// ListPets implements [petstore.Service], except that pets are in the server's order: the
// contract does not define one. Page.Next is "" if the server has no link to a next page,
// or one without a query or to the same page. A link that is malformed is an error.
func (c *Client) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	query := url.Values{}
	if q.After != "" {
		if query, err = queryOf(q.After); err != nil {
			return petstore.Page{}, err
		}
	}
	query.Set("limit", strconv.Itoa(q.Limit))
	if q.Status != "" {
		query.Set("status", string(q.Status))
	}
	r := request{base: c.base, path: "/pets", query: query.Encode(), status: http.StatusOK}
	pets, header, err := do(ctx, c, r, decodePets)
	if err != nil {
		return petstore.Page{}, err
	}
	page := petstore.Page{Pets: pets}
	if page.Next, err = next(header); err != nil {
		return petstore.Page{}, &petstore.Error{Code: petstore.CodeInternal, Message: c.text("the response breaks the contract: Link: " + err.Error())}
	}
	if page.Next == q.After {
		page.Next = "" // a link to the same page leads nowhere
	}
	return page, nil
}

// A link of RFC 8288 is <target>, followed by parameters such as ; rel="next".
const parameter = `\s*;\s*([\w*]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?`

var (
	links      = regexp.MustCompile(`<([^>]*)>((?:` + parameter + `)*)`)
	parameters = regexp.MustCompile(parameter)
)

// next returns a cursor for the link to the next page: the query of the link without
// limit and status. It ignores the path and the host of the link: they may be those of
// a server behind a proxy, and the API key must not go to another host.
func next(h http.Header) (petstore.Cursor, error) {
	for _, link := range links.FindAllStringSubmatch(strings.Join(h.Values("Link"), ", "), -1) {
		var relations string
		for _, p := range parameters.FindAllStringSubmatch(link[2], -1) {
			if strings.EqualFold(p[1], "rel") && relations == "" { // the first one counts
				relations = p[2] + p[3]
			}
		}
		if !slices.Contains(strings.Fields(strings.ToLower(relations)), "next") {
			continue
		}
		u, err := url.Parse(link[1])
		if err != nil {
			return "", err
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return "", err
		}
		query.Del("limit")
		query.Del("status")
		return cursorOf(query), nil
	}
	return "", nil
}

// cursorOf returns a query as a cursor.
func cursorOf(query url.Values) petstore.Cursor {
	return petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(query.Encode())))
}

// queryOf returns the query of a cursor.
func queryOf(c petstore.Cursor) (url.Values, error) {
	b, _ := base64.RawURLEncoding.DecodeString(string(c))
	query, err := url.ParseQuery(string(b))
	if err != nil || cursorOf(query) != c {
		return nil, petstore.Errorf(petstore.CodeInvalid, "cursor: must be one that this client returned")
	}
	return query, nil
}
