package conformance_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// brokenLists are servers that break GET /v1/pets.
func brokenLists() []variant {
	first := func(n int) func(*store) {
		return lists(func(all []petstore.Pet) []petstore.Pet { return all[:min(n, len(all))] })
	}
	limits := func(change func(int) int) func(*store) {
		return func(s *store) {
			list := s.DoListPets
			s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
				q.Limit = change(q.Limit)
				return list(ctx, q)
			}
		}
	}
	const unlimited = `^(status=[^&]*)?$`
	return []variant{
		{name: "GET /pets responds 206", check: "pets.list.status", http: status(list, 200, 206)},
		{name: "a list gets 500 when it is long", check: "pets.list.status", http: replaces(list, 200, `^.{301}`, 500, "$0")},
		{name: "a list is text/plain", check: "pets.list.media-type", http: header(list, 200, "Content-Type", "text/plain; charset=utf-8")},
		{name: "a list has no Content-Type", check: "pets.list.media-type", http: header(list, 200, "Content-Type", "")},
		{name: "a list is text/html to clients that accept anything", check: "pets.list.media-type", http: header(list+`.*\nAccept: \*/\*\r`, 200, "Content-Type", "text/html")},
		{name: "a list is wrapped in an object", check: "pets.list.array", http: edit(list, 200, `.*`, `{"pets":$0}`)},
		{name: "a list of one is an object", check: "pets.list.array", http: edit(`\?limit=1 `, 200, `^\[(.+)\]$`, "$1")},
		{name: "an empty list is null", check: "pets.list.array", http: edit(list, 200, `^\[\]$`, "null")},
		{name: "an empty list has no body", check: "pets.list.array", http: edit(list, 200, `^\[\]$`, "")},
		{name: "an empty list is 204", check: "pets.list.status", http: replaces(list, 200, `^\[\]$`, 204, "")},
		{name: "a list has one pet per line", check: "pets.list.array", http: all(edit(list, 200, `^\[|\]$`, ""), edit(list, 200, `\},\{`, "}\n{"))},

		{name: "a list lacks the ids", check: "pets.list.pet", http: lacks(list, 200, "id")},
		{name: "a list has names that are null", check: "pets.list.pet", http: set(list, 200, "name", "null")},
		{name: "a list has categories in strings", check: "pets.list.pet", http: edit(list, 200, `"categoryId":(-?\d+)`, `"categoryId":"$1"`)},
		{name: "a list has null for an absent status", check: "pets.list.pet", http: edit(list, 200, `("categoryId":-?\d+)\}`, `$1,"status":null}`)},
		{name: "a list has names instead of pets", check: "pets.list.pet", http: edit(list, 200, `^\[.+\]$`, `["Rex"]`)},

		{name: "a list has floats for categories", check: "pets.integers", http: edit(list, 200, `("categoryId":-?\d+)`, `${1}.0`)},
		{name: "a list has a pet twice", check: "pets.list.ids", http: edit(list, 200, `^\[(\{[^{}]*\}),(.*)\{[^{}]*\}\]$`, "[$1,$2$1]")},
		{name: "lists show a pet five seconds after it was added", check: "pets.list.created", pets: late(5 * time.Second)},
		{name: "a list is outdated", check: "pets.list.created", http: repeats(list, 200)},
		{name: "a list lacks the newest pet", check: "pets.list.created", pets: lists(func(all []petstore.Pet) []petstore.Pet { return all[:max(0, len(all)-1)] })},
		{name: "a list shows names in upper case", check: "pets.list.same", http: texts(list, 200, "name", strings.ToUpper)},
		{name: "a list shows every pet as available", check: "pets.list.same", http: set(list, 200, "status", `"available"`)},

		{name: "limit is ignored", check: "pets.list.limit.between", http: query(`limit=[^&]*`, "limit=20")},
		{name: "limit is one too large", check: "pets.list.limit.between", pets: limits(func(n int) int { return min(n+1, 100) })},
		{name: "the default limit is 10", check: "pets.list.limit.default", http: query(unlimited, "$1&limit=10")},
		{name: "a filtered list has another default limit", check: "pets.list.limit.default", http: query(`^status=[^&]+$`, "$0&limit=100")},
		{name: "the default limit is 21", check: "pets.list.limit.default", http: query(unlimited, "$1&limit=21")},
		{name: "there is no default limit", check: "pets.list.limit.default", http: query(unlimited, "$1&limit=100")},
		{name: "limit=1 is refused", check: "pets.list.status", http: status(`[?&]limit=1[& ]`, 200, 400)},
		{name: "limit=1 returns none", check: "pets.list.limit.between", http: all(unlinked, edit(`[?&]limit=1[& ]`, 200, `.*`, "[]"))},
		{name: "a list ends at 50", check: "pets.list.limit.full", pets: first(50)},
		{name: "a limit may have zeros before it", check: "pets.list.refused", http: query(`limit=0+([1-9])`, "limit=$1")},
		{name: "limit has no maximum", check: "pets.list.limit.above", http: noMaximum(`[?&]limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,18})[& ]`)},
		{name: "a negative limit is none", check: "pets.list.limit.above", http: noMaximum(`[?&]limit=-1 `)},
		{name: "an empty limit is none", check: "pets.list.limit.above", http: noMaximum(`[?&]limit= `)},

		{name: "the filter is ignored", check: "pets.list.filter.only", http: query(`&?status=[^&]*`, "")},
		{name: "escapes in the query are not decoded", check: "pets.list.filter.only", http: query(`status=s%6Fld`, "")},
		{name: "the filter loses the last pet", check: "pets.list.created", http: edit(`[?&]status=`, 200, `,?\{[^{}]*\}\]$`, "]")},
		{name: "the filter for available returns pets without a status too", check: "pets.list.filter.only", pets: filters("available", "available", "")},
		{name: "the filter for sold returns everything except available", check: "pets.list.filter.only", pets: filters("sold", "sold", "pending", "")},
		{name: "the filter for sold returns nothing", check: "pets.list.created", pets: filters("sold")},
		{name: "the filter looks at the oldest hundred pets", check: "pets.list.created", pets: filtersFirst(100)},
		{name: "lists show only the newest of pets with the same name", check: "pets.list.created", pets: lists(newestOfName)},
		{name: "lists lack pets with long names", check: "pets.list.created", pets: lists(func(all []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(all, func(p petstore.Pet) bool { return len(p.Name) > 5000 })
		})},
		{name: "the default limit is 10 for available pets", check: "pets.list.limit.default", http: query(`^status=available$`, "$0&limit=10")},
		{name: "without a filter sold pets are hidden", check: "pets.list.created", pets: filters("", "available", "pending", "")},
		{name: "pets without a status are not listed", check: "pets.list.created", pets: filters("", petstore.Statuses()...)},
		{name: "the filter comes after the limit", check: "pets.list.limit.between", pets: filterLast, http: unlinked},
		{name: "a filtered list has no limit", check: "pets.list.limit.between", http: where(`[?&]status=`, query(`limit=\d+`, "limit=100"))},
	}
}

// unlinked does not link to further pages. An empty page that has such a link says
// that there may be more.
func unlinked(next http.Handler) http.Handler { return header(list, 200, "Link", "")(next) }

// noMaximum returns more than 100 pets, once the store has them, for queries that match a
// pattern and get 400 otherwise.
func noMaximum(pattern string) wrapper {
	many := "[" + strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150) + `{"id":2,"name":"a","categoryId":1}]`
	var added atomic.Int64
	return all(responses(create, 201, func(*response) { added.Add(1) }), responses(pattern, 400, func(res *response) {
		if added.Load() > 100 {
			res.status, res.body = 200, many
		}
	}))
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

// filters makes the lists of one status ("": the lists without a filter) show the
// pets with other statuses.
func filters(by petstore.Status, shows ...petstore.Status) func(*store) {
	return func(s *store) {
		right := s.DoListPets
		lists(func(all []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(all, func(p petstore.Pet) bool { return !slices.Contains(shows, p.Status) })
		})(s)
		wrong := s.DoListPets
		s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			if q.Status != by {
				return right(ctx, q)
			}
			q.Status = ""
			return wrong(ctx, q)
		}
	}
}

// filtersFirst applies the filter to the oldest n pets.
func filtersFirst(n int) func(*store) {
	return func(s *store) {
		list := s.DoListPets
		s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			status, limit := q.Status, q.Limit
			page, err := list(ctx, petstore.ListQuery{Limit: n})
			page.Pets = slices.DeleteFunc(slices.Clone(page.Pets), func(p petstore.Pet) bool { return status != "" && p.Status != status })
			return petstore.Page{Pets: page.Pets[:min(limit, len(page.Pets))]}, err
		}
	}
}

// newestOfName returns the last of the pets that have the same name, but for its case.
func newestOfName(all []petstore.Pet) []petstore.Pet {
	last := make(map[string]int64)
	for _, p := range all {
		last[strings.ToLower(p.Name)] = p.ID
	}
	return slices.DeleteFunc(all, func(p petstore.Pet) bool { return last[strings.ToLower(p.Name)] != p.ID })
}
