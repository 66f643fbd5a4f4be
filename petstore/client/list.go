package client

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/petstore"
)

// ErrIncomplete says that the server may show only the first page of a list. The
// error of [Client.All] wraps it if Options.WholeLists is set.
var ErrIncomplete = errors.New("the server has no further pages")

// All returns the pets of q on all pages, one by one. It requests pages of q.Limit
// pets, or of 100 if q.Limit is 0. It ends after the first error.
//
// Pets come in the server's order: the contract does not define one. If the server
// shows only the first page, All ends there. With Options.WholeLists that is an
// error.
func (c *Client) All(ctx context.Context, q petstore.ListQuery) iter.Seq2[petstore.Pet, error] {
	switch {
	case q.Limit == 0:
		q.Limit = petstore.MaxLimit
	case q.Limit == 1 && c.opts.WholeLists:
		q.Limit = 2 // see checkWhole
	}
	return func(yield func(petstore.Pet, error) bool) {
		q := q // a second range over the sequence starts again
		for {
			page, linked, err := c.list(ctx, q)
			for _, pet := range page.Pets {
				if !yield(pet, nil) {
					return
				}
			}
			if err == nil && page.Next == "" && c.opts.WholeLists {
				err = c.checkWhole(ctx, q, len(page.Pets), linked)
			}
			if err != nil {
				yield(petstore.Pet{}, err)
				return
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// checkWhole returns an error if more pets may follow the page of q, which has no
// next page. linked is whether the page links to one that no query leads to: then
// more pets follow. Otherwise a page that is not full is the last one. If it is full,
// checkWhole requests a page of one pet. There certainly are more pets than that one,
// so if that page has no next page either, the server has no further pages.
func (c *Client) checkWhole(ctx context.Context, q petstore.ListQuery, pets int, linked bool) error {
	if !linked {
		if pets < q.Limit {
			return nil
		}
		page, err := c.ListPets(ctx, petstore.ListQuery{Limit: 1, Status: q.Status})
		if err != nil || page.Next != "" {
			return err
		}
	}
	return &petstore.Error{
		Code:    petstore.CodeInternal,
		Message: "the list may have more than these " + strconv.Itoa(pets) + " pets",
		Err:     ErrIncomplete,
	}
}

// ListPets implements [petstore.Service]. The pets are in the server's order: the
// contract does not define one. Page.Next is "" on a server without further pages.
func (c *Client) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, _, err := c.list(ctx, q)
	return page, err
}

// list is ListPets. linked is whether the page has a link to another one, which
// may lack a query.
func (c *Client) list(ctx context.Context, q petstore.ListQuery) (page petstore.Page, linked bool, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, false, err
	}
	query := "limit=" + strconv.Itoa(q.Limit)
	if q.Status != "" {
		query += "&status=" + string(q.Status)
	}
	if q.After != "" {
		after, err := cursorQuery(q.After)
		if err != nil {
			return page, false, err
		}
		query += "&" + after
	}
	r := &request{base: c.base, path: "/pets", query: query, status: http.StatusOK}
	pets, header, err := do(ctx, c, r, func(body []byte) ([]petstore.Pet, error) { return decodePets(body, q) })
	if err != nil {
		return page, false, err
	}
	page.Pets = pets
	page.Next, linked = nextCursor(header)
	if q.After != "" && page.Next == q.After {
		return petstore.Page{Pets: pets}, false, nil // a link to the same page leads nowhere
	}
	return page, linked, nil
}

// nextCursor returns a cursor for the next link of a response: the query of the
// link without limit and status, in base64. It ignores the path and the host of the
// link: they may be those of a server behind a proxy, and the API key must not go to
// another host. linked is whether there is such a link, even if nothing is left of
// its query.
func nextCursor(h http.Header) (next petstore.Cursor, linked bool) {
	link, linked := nextLink(h.Values("Link"))
	u, err := url.Parse(link)
	if !linked || err != nil {
		return "", linked
	}
	query := withoutOurs(u.RawQuery)
	if !visibleASCII(query) {
		return "", true
	}
	return petstore.Cursor(base64.RawURLEncoding.EncodeToString([]byte(query))), true
}

var errCursor = petstore.Errorf(petstore.CodeInvalid, "cursor: must be one that this client returned")

// cursorQuery returns the query that nextCursor has put into a cursor.
func cursorQuery(cursor petstore.Cursor) (string, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(cursor))
	query := string(b)
	if err != nil || strings.ContainsAny(string(cursor), "\r\n") || query == "" || // the decoder ignores line breaks
		!visibleASCII(query) || strings.Contains(query, "#") || withoutOurs(query) != query {
		return "", errCursor
	}
	return query, nil
}

// withoutOurs returns query without limit and status, and otherwise unchanged.
func withoutOurs(query string) string {
	parts := slices.DeleteFunc(strings.Split(query, "&"), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return part == "" || err == nil && (name == "limit" || name == "status")
	})
	return strings.Join(parts, "&")
}
