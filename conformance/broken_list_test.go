package conformance_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// brokenLists are servers that break GET /v1/pets.
func brokenLists() []variant {
	first := func(n int) func(*http.Request, []object) []object {
		return func(_ *http.Request, l []object) []object { return l[:max(0, min(n, len(l)))] }
	}
	without := func(drop func(object) bool) wrapper {
		return lists(func(_ *http.Request, l []object) []object { return slices.DeleteFunc(l, drop) })
	}
	const unlimited, unfiltered = `^(status=[^&]*)?$`, `^(limit=[^&]*)?$`
	return []variant{
		{name: "GET /pets responds 206", clause: "list", http: status(list, 200, 206)},
		{name: "a list gets 500 when it is long", clause: "list", http: replaces(list, 200, `^.{301}`, 500, "$0")},
		{name: "a list is text/plain", clause: "media-type", http: header(list, 200, "Content-Type", "text/plain; charset=utf-8")},
		{name: "a list has no Content-Type", clause: "media-type", http: header(list, 200, "Content-Type", "")},
		{name: "a list is application/hal+json", clause: "media-type", http: header(list, 200, "Content-Type", "application/hal+json")},

		{name: "a list is text/html to clients that accept anything", clause: "media-type", http: where(`\r\nAccept: \*/\*\r\n`, header(list, 200, "Content-Type", "text/html"))},
		{name: "a list is wrapped in an object", clause: "array", http: edit(list, 200, `.*`, `{"pets":$0}`)},
		{name: "a list of one is an object", clause: "array", http: where(`\?limit=1 `, edit(list, 200, `^\[(.+)\]$`, "$1"))},
		{name: "a list begins with a byte order mark", clause: "array", http: edit(list, 200, `^`, "\ufeff")},
		{name: "a list has a comma after its last pet", clause: "array", http: edit(list, 200, `\}\]$`, "},]")},
		{name: "an empty list is null", clause: "array", http: edit(list, 200, `^\[\]$`, "null")},
		{name: "an empty list is an empty object", clause: "array", http: edit(list, 200, `^\[\]$`, "{}")},
		{name: "an empty list has no body", clause: "array", http: edit(list, 200, `^\[\]$`, "")},
		{name: "an empty list is 204", clause: "array", http: replaces(list, 200, `^\[\]$`, 204, "")},
		{name: "an empty list is 404", clause: "array", http: replaces(list, 200, `^\[\]$`, 404, `{"code":"not_found","message":"none","status":404}`)},
		{name: "a list has one pet per line", clause: "array", http: both(edit(list, 200, `^\[|\]$`, ""), edit(list, 200, `\},\{`, "}\n{"))},

		{name: "a list lacks the ids", clause: "pet", http: set(list, 200, "id", "")},
		{name: "a list has ids in strings", clause: "pet", http: edit(list, 200, `"id":(\d+)`, `"id":"$1"`)},
		{name: "a list lacks the names", clause: "pet", http: set(list, 200, "name", "")},
		{name: "a list has names that are null", clause: "pet", http: set(list, 200, "name", "null")},
		{name: "a list lacks the categories", clause: "pet", http: set(list, 200, "categoryId", "")},
		{name: "a list has categories in strings", clause: "pet", http: edit(list, 200, `"categoryId":(-?\d+)`, `"categoryId":"$1"`)},
		{name: "a list has categories as objects", clause: "pet", http: edit(list, 200, `"categoryId":(-?\d+)`, `"categoryId":{"id":$1}`)},
		{name: "a list has null for an absent status", clause: "pet", http: edit(list, 200, `("categoryId":-?\d+)\}`, `$1,"status":null}`)},
		{name: "a list has an empty status for an absent one", clause: "pet", http: edit(list, 200, `("categoryId":-?\d+)\}`, `$1,"status":""}`)},
		{name: "a list has a status in upper case", clause: "pet", http: objects(list, 200, func(o object) {
			o["status"] = jsontext.Value(strings.ToUpper(string(o["status"])))
		})},
		{name: "a list has names instead of pets", clause: "pet", http: edit(list, 200, `^\[.+\]$`, `["Rex"]`)},

		{name: "a list has a pet twice", clause: "id-unique", http: edit(list, 200, `^\[(\{[^{}]*\}),(.*)\{[^{}]*\}\]$`, "[$1,$2$1]")},
		{name: "a list is outdated", clause: "list-shows", http: staleLists},
		{name: "a list lacks the newest pet", clause: "list-shows", http: lists(func(r *http.Request, l []object) []object { return first(min(len(l)-1, 99))(r, l) })},
		{name: "a list shows names in upper case", clause: "list-shows", http: texts(list, 200, "name", strings.ToUpper)},
		{name: "a list shows every pet as available", clause: "list-shows", http: set(list, 200, "status", `"available"`)},
		{name: "a list shows another category", clause: "list-shows", http: set(list, 200, "categoryId", "7")},

		{name: "limit is ignored", clause: "limit", http: query(`limit=[^&]*`, "limit=20")},
		{name: "limit is one too large", clause: "limit", http: limits(func(n int) int { return n + 1 })},
		{name: "limit is rounded to tens", clause: "limit", http: limits(func(n int) int { return (n + 9) / 10 * 10 })},
		{name: "the default limit is 10", clause: "limit-default", http: query(unlimited, "$1&limit=10")},
		{name: "the default limit is 25", clause: "limit-default", http: query(unlimited, "$1&limit=25")},
		{name: "a filtered list has another default limit", clause: "limit-default", http: query(`^status=[^&]+$`, "$0&limit=100")},
		{name: "there is no default limit", clause: "limit-default", http: query(unlimited, "$1&limit=100")},
		{name: "limit=1 is refused", clause: "limit-min", http: where(`[?&]limit=1[& ]`, status(list, 200, 400))},
		{name: "limit=1 returns two", clause: "limit-min", http: query(`limit=1\b`, "limit=2")},
		{name: "limit=1 returns none", clause: "limit-min", http: where(`[?&]limit=1[& ]`, edit(list, 200, `.*`, "[]"))},
		{name: "a list ends at 50", clause: "limit-max", http: lists(first(50))},
		{name: "a list ends at 99", clause: "limit-max", http: lists(first(99))},
		{name: "limit=100 is refused", clause: "limit-max", http: where(`\?limit=100 `, status(list, 200, 400))},
		{name: "limit has no maximum", clause: "limit-max", http: noMaximum},

		{name: "the filter is ignored", clause: "filter", http: query(`&?status=[^&]*`, "")},
		{name: "the filter for sold returns pending", clause: "filter", http: query(`status=sold`, "status=pending")},
		{name: "the filter loses the last pet", clause: "filter", http: where(`[?&]status=`, edit(list, 200, `,?\{[^{}]*\}\]$`, "]"))},
		{name: "the filter for available returns pets without a status too", clause: "filter", pets: filters("available", "available", "")},
		{name: "the filter for available returns pending too", clause: "filter", pets: filters("available", "available", "pending")},
		{name: "the filter for pending returns sold too", clause: "filter", pets: filters("pending", "pending", "sold")},
		{name: "the filter for sold returns everything except available", clause: "filter", pets: filters("sold", "sold", "pending", "")},
		{name: "the filter for sold returns nothing", clause: "filter", pets: filters("sold")},
		{name: "the filter for available returns nothing", clause: "filter", pets: filters("available")},
		{name: "the filter for pending returns nothing", clause: "filter", pets: filters("pending")},
		{name: "without a filter sold pets are hidden", clause: "filter", http: lists(func(r *http.Request, l []object) []object {
			return slices.DeleteFunc(l, func(o object) bool { return !r.URL.Query().Has("status") && string(o["status"]) == `"sold"` })
		})},
		{name: "without a filter only available pets are listed", clause: "filter", http: query(unfiltered, "$1&status=available")},
		{name: "pets without a status are not listed", clause: "filter", http: without(func(o object) bool { return o["status"] == nil })},
		{name: "the filter comes after the limit", clause: "filter-limit", http: filterLast},
		{name: "a filtered list has no limit", clause: "filter-limit", http: where(`[?&]status=`, query(`limit=\d+`, "limit=100"))},
		{name: "a filtered list shows other categories", clause: "replacement", http: where(`[?&]status=`, edit(list, 200, `"categoryId":`, `"categoryId":1`))},
	}
}

// staleLists returns the first response to each query again.
func staleLists(next http.Handler) http.Handler {
	var kept sync.Map
	return responses(list, func(res *response) {
		if res.status == 200 {
			old, _ := kept.LoadOrStore(res.request.URL.RawQuery, res.body)
			res.body = old.([]byte)
		}
	})(next)
}

// noMaximum returns more than 100 pets for limits above 100.
func noMaximum(next http.Handler) http.Handler {
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150), ",") + "]"
	return where(`[?&]limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,18})[& ]`, replaces(list, 400, ".*", 200, many))(next)
}

// filterLast applies the filter after the limit.
func filterLast(next http.Handler) http.Handler {
	filter := lists(func(r *http.Request, l []object) []object {
		status := r.Header.Get("X-Filter")
		return slices.DeleteFunc(l, func(o object) bool { return status != "" && strings.Trim(string(o["status"]), `"`) != status })
	})
	return requests(list, func(r *http.Request) {
		q := r.URL.Query()
		r.Header.Set("X-Filter", q.Get("status"))
		q.Del("status")
		r.URL.RawQuery = q.Encode()
	})(filter(next))
}

// filters returns a store whose lists of one status show pets of others.
func filters(by petstore.Status, shows ...petstore.Status) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service {
		return store{Service: s, list: func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			if q.Status != by {
				return s.ListPets(ctx, q)
			}
			return listAll(ctx, s, petstore.ListQuery{Limit: q.Limit}, func(p []petstore.Pet) []petstore.Pet {
				return slices.DeleteFunc(p, func(pet petstore.Pet) bool { return !slices.Contains(shows, pet.Status) })
			})
		}}
	}
}

// listAll lists all pets that match q without its limit, applies change to them,
// and returns the first q.Limit of the result.
func listAll(ctx context.Context, s petstore.Service, q petstore.ListQuery, change func([]petstore.Pet) []petstore.Pet) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	limit := q.Limit
	q.Limit = petstore.MaxLimit
	var all []petstore.Pet
	for {
		p, err := s.ListPets(ctx, q)
		if err != nil {
			return p, err
		}
		all = append(all, p.Pets...)
		if q.After = p.Next; p.Next == "" {
			all = change(all)
			return petstore.Page{Pets: all[:min(limit, len(all))]}, nil
		}
	}
}
