package conformance_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
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
			list := s.list
			s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
				q.Limit = change(q.Limit)
				return list(ctx, q)
			}
		}
	}
	const unlimited = `^(status=[^&]*)?$`
	return []variant{
		{name: "GET /pets responds 206", clause: "list", http: status(list, 200, 206)},
		{name: "a list gets 500 when it is long", clause: "list", http: replaces(list, 200, `^.{301}`, 500, "$0")},
		{name: "a list is text/plain", clause: "media-type", http: header(list, 200, "Content-Type", "text/plain; charset=utf-8")},
		{name: "a list has no Content-Type", clause: "media-type", http: header(list, 200, "Content-Type", "")},
		{name: "a list is text/html to clients that accept anything", clause: "media-type", http: header(list+`.*\nAccept: \*/\*\r`, 200, "Content-Type", "text/html")},
		{name: "a list is wrapped in an object", clause: "array", http: edit(list, 200, `.*`, `{"pets":$0}`)},
		{name: "a list of one is an object", clause: "array", http: edit(`\?limit=1 `, 200, `^\[(.+)\]$`, "$1")},
		{name: "a list begins with a byte order mark", clause: "array", http: edit(list, 200, `^`, "\ufeff")},
		{name: "a list has a comma after its last pet", clause: "array", http: edit(list, 200, `\}\]$`, "},]")},
		{name: "an empty list is null", clause: "array", http: edit(list, 200, `^\[\]$`, "null")},
		{name: "an empty list has no body", clause: "array", http: edit(list, 200, `^\[\]$`, "")},
		{name: "an empty list is 204", clause: "list", http: replaces(list, 200, `^\[\]$`, 204, "")},
		{name: "a list has one pet per line", clause: "array", http: all(edit(list, 200, `^\[|\]$`, ""), edit(list, 200, `\},\{`, "}\n{"))},

		{name: "a list lacks the ids", clause: "pet", http: lacks(list, 200, "id")},
		{name: "a list has ids in strings", clause: "pet", http: edit(list, 200, `"id":(\d+)`, `"id":"$1"`)},
		{name: "a list lacks the names", clause: "pet", http: lacks(list, 200, "name")},
		{name: "a list has names that are null", clause: "pet", http: set(list, 200, "name", "null")},
		{name: "a list lacks the categories", clause: "pet", http: lacks(list, 200, "categoryId")},
		{name: "a list has categories in strings", clause: "pet", http: edit(list, 200, `"categoryId":(-?\d+)`, `"categoryId":"$1"`)},
		{name: "a list has null for an absent status", clause: "pet", http: edit(list, 200, `("categoryId":-?\d+)\}`, `$1,"status":null}`)},
		{name: "a list has a status in upper case", clause: "pet", http: texts(list, 200, "status", strings.ToUpper)},
		{name: "a list has names instead of pets", clause: "pet", http: edit(list, 200, `^\[.+\]$`, `["Rex"]`)},

		{name: "a list has floats for categories", clause: "integers", http: edit(list, 200, `("categoryId":-?\d+)`, `${1}.0`)},
		{name: "a list has a pet twice", clause: "id-unique", http: edit(list, 200, `^\[(\{[^{}]*\}),(.*)\{[^{}]*\}\]$`, "[$1,$2$1]")},
		{name: "lists show a pet five seconds after it was added", clause: "list-shows", pets: late(5 * time.Second)},
		{name: "lists show a pet half a second after it was added", clause: "list-soon", pets: late(500 * time.Millisecond)},
		{name: "a list is outdated", clause: "list-shows", http: repeats(list, 200)},
		{name: "a list lacks the newest pet", clause: "list-shows", pets: lists(func(all []petstore.Pet) []petstore.Pet { return all[:max(0, len(all)-1)] })},
		{name: "a list shows names in upper case", clause: "list-shows", http: texts(list, 200, "name", strings.ToUpper)},
		{name: "a list shows every pet as available", clause: "list-shows", http: set(list, 200, "status", `"available"`)},
		{name: "a list shows another category", clause: "list-shows", http: set(list, 200, "categoryId", "7")},

		{name: "limit is ignored", clause: "limit", http: query(`limit=[^&]*`, "limit=20")},
		{name: "limit is one too large", clause: "limit", pets: limits(func(n int) int { return min(n+1, 100) })},
		{name: "the default limit is 10", clause: "limit-default", http: query(unlimited, "$1&limit=10")},
		{name: "a filtered list has another default limit", clause: "limit-default", http: query(`^status=[^&]+$`, "$0&limit=100")},
		{name: "there is no default limit", clause: "limit-default", http: query(unlimited, "$1&limit=100")},
		{name: "limit=1 is refused", clause: "list", http: status(`[?&]limit=1[& ]`, 200, 400)},
		{name: "limit=1 returns two", clause: "limit", http: query(`limit=1\b`, "limit=2")},
		{name: "limit=1 returns none", clause: "limit", http: all(unlinked, edit(`[?&]limit=1[& ]`, 200, `.*`, "[]"))},
		{name: "a list ends at 99", clause: "limit-full", pets: first(99)},
		{name: "limit=100 is refused", clause: "list", http: status(`\?limit=100 `, 200, 400)},
		{name: "limit has no maximum", clause: "limit-max", http: noMaximum},

		{name: "the filter is ignored", clause: "filter", http: query(`&?status=[^&]*`, "")},
		{name: "the filter loses the last pet", clause: "filter", http: edit(`[?&]status=`, 200, `,?\{[^{}]*\}\]$`, "]")},
		{name: "the filter for available returns pets without a status too", clause: "filter", pets: filters("available", "available", "")},
		{name: "the filter for pending returns sold too", clause: "filter", pets: filters("pending", "pending", "sold")},
		{name: "the filter for sold returns everything except available", clause: "filter", pets: filters("sold", "sold", "pending", "")},
		{name: "the filter for sold returns nothing", clause: "filter", pets: filters("sold")},
		{name: "without a filter sold pets are hidden", clause: "list-shows", pets: filters("", "available", "pending", "")},
		{name: "pets without a status are not listed", clause: "list-shows", pets: filters("", petstore.Statuses()...)},
		{name: "the filter comes after the limit", clause: "filter-limit", pets: filterLast, http: unlinked},
		{name: "a filtered list has no limit", clause: "filter-limit", http: where(`[?&]status=`, query(`limit=\d+`, "limit=100"))},
	}
}

// unlinked does not link to further pages. An empty page that has such a link says
// that there may be more.
func unlinked(next http.Handler) http.Handler { return header(list, 200, "Link", "")(next) }

// noMaximum returns more than 100 pets for limits above 100.
func noMaximum(next http.Handler) http.Handler {
	many := "[" + strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150) + `{"id":2,"name":"a","categoryId":1}]`
	return replaces(`[?&]limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,18})[& ]`, 400, ".*", 200, many)(next)
}

// filterLast applies the filter after the limit.
func filterLast(s *store) {
	list := s.list
	s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := list(ctx, petstore.ListQuery{Limit: q.Limit})
		page.Pets = slices.DeleteFunc(slices.Clone(page.Pets), func(p petstore.Pet) bool { return q.Status != "" && p.Status != q.Status })
		return page, err
	}
}

// filters makes the lists of one status ("": the lists without a filter) show the
// pets with other statuses.
func filters(by petstore.Status, shows ...petstore.Status) func(*store) {
	return func(s *store) {
		right := s.list
		lists(func(all []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(all, func(p petstore.Pet) bool { return !slices.Contains(shows, p.Status) })
		})(s)
		wrong := s.list
		s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			if q.Status != by {
				return right(ctx, q)
			}
			q.Status = ""
			return wrong(ctx, q)
		}
	}
}
