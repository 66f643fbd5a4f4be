package conformance_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// brokenLists are servers that break GET /v1/pets.
func brokenLists() []broken {
	return []broken{
		{"GET /pets responds 206", "pets.list.status", status(list, 200, 206), nil},
		{"a list gets 500 when it is long", "pets.list.status", replaces(list, 200, `^.{301}`, 500, "$0"), nil},
		{"a list is text/plain", "pets.list.media-type", header(list, 200, "Content-Type", "text/plain; charset=utf-8"), nil},
		{"a list is text/html to clients that accept anything", "pets.list.media-type", header(list+`.*\nAccept: \*/\*\r`, 200, "Content-Type", "text/html"), nil},
		{"a list is wrapped in an object", "pets.list.array", edit(list, 200, `.*`, `{"pets":$0}`), nil},
		{"an empty list is null", "pets.list.array", edit(list, 200, `^\[\]$`, "null"), nil},
		{"an empty list of a status gets 404", "pets.list.status", replaces(`[?&]status=`, 200, `^\[\]$`, 404, failure(404)), nil},
		{"a list of two is an object, a GET with a Content-Type gets 400, limit[] 500, and the message about a filter repeats its quotes", "pets.list.array pets.list.status errors.no-5xx errors.any", all(
			edit(`\?limit=2 `, 200, `^\[(.+)\]$`, "$1"), refuses(`^GET .*\r\nContent-Type: `, 200, 400), refuses(`limit%5B%5D`, 200, 500), repeatsQuotes(`status=a%22b`)), nil},
		{"a list lacks the ids", "pets.list.pet", lacks(list, 200, "id"), nil},
		{"a list has names that are null", "pets.list.pet", set(list, 200, "name", "null"), nil},
		{"a list has null for an absent status", "pets.list.pet", edit(list, 200, `("categoryId":-?\d+)\}`, `$1,"status":null}`), nil},
		{"a list has floats for categories", "pets.integers", edit(list, 200, `("categoryId":-?\d+)`, `${1}.0`), nil},
		{"a list has a pet twice", "pets.list.ids", edit(list, 200, `^\[(\{[^{}]*\}),(.*)\{[^{}]*\}\]$`, "[$1,$2$1]"), nil},
		{"lists show a pet five seconds after it was added", "pets.list.created", nil, late(5 * time.Second)},
		{"a list shows names in upper case", "pets.list.same", texts(list, 200, "name", strings.ToUpper), nil},
		{"limit=1 returns none", "pets.list.limit.between", all(unlinked, edit(`[?&]limit=1[& ]`, 200, `.*`, "[]")), nil},
		{"a list ends at 50", "pets.list.limit.full", nil, first(50)},
		{"the filter loses the last pet", "pets.list.created", edit(`[?&]status=`, 200, `,?\{[^{}]*\}\]$`, "]"), nil},
		{"the filter for sold returns nothing", "pets.list.created", edit(`[?&]status=sold`, 200, `.*`, "[]"), nil},
		{"the filter looks at the oldest hundred pets", "pets.list.created", nil, filtersFirst},
		{"the filter comes after the limit", "pets.list.limit.between", unlinked, filterLast},
	}
}

// brokenLimits are servers that break the limit or the filter of a list.
func brokenLimits() []broken {
	const unlimited = `^(status=[^&]*)?$`
	return []broken{
		{"limit is ignored", "pets.list.limit.between", query(`limit=[^&]*`, "limit=20"), nil},
		{"limit is one too large", "pets.list.limit.between", nil, func(s *store) {
			list := s.DoListPets
			s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
				q.Limit = min(q.Limit+1, 100)
				return list(ctx, q)
			}
		}},
		{"the default limit is 10", "pets.list.limit.default", query(unlimited, "$1&limit=10"), nil},
		{"a filtered list has another default limit", "pets.list.limit.default", query(`^status=[^&]+$`, "$0&limit=100"), nil},
		{"a limit may have zeros before it", "pets.list.refused", query(`limit=0+([1-9])`, "limit=$1"), nil},
		{"limits are clamped", "pets.list.refused", query(`limit=101$`, "limit=100"), nil},
		{"a limit above 100 gets 500", "errors.no-5xx", status(`[?&]limit=(101|1000) `, 400, 500), nil},
		{"limit has no maximum", "pets.list.limit.above", noMaximum(`[?&]limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,18})[& ]`), nil},
		{"the filter is ignored", "pets.list.filter.only", query(`&?status=[^&]*`, ""), nil},
		{"escapes in the query are not decoded", "pets.list.filter.only", query(`status=s%6Fld`, ""), nil},
		{"a filtered list has no limit", "pets.list.limit.between", where(`[?&]status=`, query(`limit=\d+`, "limit=100")), nil},
	}
}

// unlinked does not link to further pages. An empty page that has such a link says
// that there may be more.
var unlinked = header(list, 200, "Link", "")

// noMaximum returns more than 100 pets for queries that match a pattern and get 400
// otherwise.
func noMaximum(pattern string) wrapper {
	return replaces(pattern, 400, `^.*$`, 200, "["+strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150)+`{"id":2,"name":"a","categoryId":1}]`)
}

// filterLast applies the filter after the limit.
func filterLast(s *store) {
	list := s.DoListPets
	s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := list(ctx, petstore.ListQuery{Limit: q.Limit})
		page.Pets = slices.DeleteFunc(slices.Clone(page.Pets), func(p petstore.Pet) bool { return q.Status != "" && p.Status != q.Status })
		return page, err
	}
}

// filtersFirst applies the filter to the oldest hundred pets.
func filtersFirst(s *store) {
	list := s.DoListPets
	s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := list(ctx, petstore.ListQuery{Limit: 100})
		page.Pets = slices.DeleteFunc(slices.Clone(page.Pets), func(p petstore.Pet) bool { return q.Status != "" && p.Status != q.Status })
		return petstore.Page{Pets: page.Pets[:min(q.Limit, len(page.Pets))]}, err
	}
}
