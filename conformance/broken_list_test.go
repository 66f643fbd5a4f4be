package conformance_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// brokenLists break GET /v1/pets, each in one way.
func brokenLists() []variant {
	first := func(n int) func(*http.Request, []object) []object {
		return func(_ *http.Request, l []object) []object { return l[:min(n, len(l))] }
	}
	without := func(drop func(object) bool) func(*http.Request, []object) []object {
		return func(_ *http.Request, l []object) []object { return slices.DeleteFunc(l, drop) }
	}
	return []variant{
		{name: "a list is answered with 206", clause: "list", http: status(list, 200, 206)},
		{name: "a list gets 500 when it is long", clause: "list", http: answers(list, func(a *answer) {
			if len(a.body) > 300 {
				a.status = 500
			}
		})},
		{name: "a list is text/plain", clause: "media-type", http: header(list, 200, "Content-Type", "text/plain; charset=utf-8")},
		{name: "a list has no Content-Type", clause: "media-type", http: header(list, 200, "Content-Type", "")},
		{name: "a list is application/hal+json", clause: "media-type", http: header(list, 200, "Content-Type", "application/hal+json")},

		{name: "a list is a page to whoever accepts anything", clause: "media-type", http: answers(list, func(a *answer) {
			if a.request.Header.Get("Accept") == "*/*" {
				a.header.Set("Content-Type", "text/html")
			}
		})},
		{name: "a list is wrapped in an object", clause: "array", http: answers(list, func(a *answer) {
			if a.status == 200 {
				a.body = []byte(`{"pets":` + string(a.body) + `}`)
			}
		})},
		{name: "a list of one is an object", clause: "array", http: answers(list, func(a *answer) {
			if a.request.URL.RawQuery == "limit=1" && a.status == 200 && len(a.body) > 2 {
				a.body = a.body[1 : len(a.body)-1]
			}
		})},
		{name: "a list begins with a byte order mark", clause: "array", http: answers(list, func(a *answer) { a.body = append([]byte("\xef\xbb\xbf"), a.body...) })},
		{name: "a list has a comma after its last pet", clause: "array", http: answers(list, func(a *answer) {
			a.body = []byte(strings.Replace(string(a.body), "}]", "},]", 1))
		})},
		{name: "an empty list is null", clause: "array", http: emptyList(200, "null")},
		{name: "an empty list is an empty object", clause: "array", http: emptyList(200, "{}")},
		{name: "an empty list has no body", clause: "array", http: emptyList(200, "")},
		{name: "an empty list is 204", clause: "array", http: emptyList(204, "")},
		{name: "an empty list is 404", clause: "array", http: emptyList(404, `{"code":"not_found","message":"none","status":404}`)},
		{name: "a list is a line for each pet", clause: "array", http: answers(list, func(a *answer) {
			if a.status == 200 {
				a.body = []byte(strings.ReplaceAll(strings.Trim(string(a.body), "[]"), "},{", "}\n{"))
			}
		})},

		{name: "a list lacks the ids", clause: "pet", http: set(list, 200, "id", "")},
		{name: "a list has ids in strings", clause: "pet", http: objects(list, 200, func(o object) { o["id"] = quoted(string(o["id"])) })},
		{name: "a list lacks the names", clause: "pet", http: set(list, 200, "name", "")},
		{name: "a list has names that are null", clause: "pet", http: set(list, 200, "name", "null")},
		{name: "a list lacks the categories", clause: "pet", http: set(list, 200, "categoryId", "")},
		{name: "a list has categories in strings", clause: "pet", http: objects(list, 200, func(o object) { o["categoryId"] = quoted(string(o["categoryId"])) })},
		{name: "a list has categories as objects", clause: "pet", http: objects(list, 200, func(o object) {
			o["categoryId"] = jsontext.Value(`{"id":` + string(o["categoryId"]) + `}`)
		})},
		{name: "a list has null for an absent status", clause: "pet", http: objects(list, 200, func(o object) {
			if o["status"] == nil {
				o["status"] = jsontext.Value("null")
			}
		})},
		{name: "a list has an empty status for an absent one", clause: "pet", http: objects(list, 200, func(o object) {
			if o["status"] == nil {
				o["status"] = jsontext.Value(`""`)
			}
		})},
		{name: "a list has a status in upper case", clause: "pet", http: objects(list, 200, func(o object) {
			o["status"] = jsontext.Value(strings.ToUpper(string(o["status"])))
		})},
		{name: "a list has bare names for pets", clause: "pet", http: answers(list, func(a *answer) {
			if a.status == 200 && len(a.body) > 2 {
				a.body = []byte(`["Rex"]`)
			}
		})},

		{name: "a pet stands twice in a list", clause: "id-unique", http: lists(func(_ *http.Request, l []object) []object {
			if len(l) > 1 {
				l[len(l)-1] = l[0]
			}
			return l
		})},
		{name: "a list is a copy from before", clause: "list-shows", http: staleLists},
		{name: "a list lacks the newest pet", clause: "list-shows", http: lists(func(r *http.Request, l []object) []object {
			return l[:max(0, min(len(l)-1, 99))]
		})},
		{name: "a list shows names in upper case", clause: "list-shows", http: objects(list, 200, func(o object) {
			o["name"] = quoted(strings.ToUpper(unquoted(o["name"])))
		})},
		{name: "a list shows every pet as available", clause: "list-shows", http: set(list, 200, "status", `"available"`)},
		{name: "a list shows another category", clause: "list-shows", http: set(list, 200, "categoryId", "7")},

		{name: "limit is ignored", clause: "limit", http: query(func(_ func(string) string, set func(string, string)) { set("limit", "20") })},
		{name: "limit is one too generous", clause: "limit", http: query(func(get func(string) string, set func(string, string)) {
			if n, err := strconv.Atoi(get("limit")); err == nil && n > 1 && n < 100 {
				set("limit", strconv.Itoa(n+1))
			}
		})},
		{name: "limit is rounded to tens", clause: "limit", http: query(func(get func(string) string, set func(string, string)) {
			if n, err := strconv.Atoi(get("limit")); err == nil && n > 1 {
				set("limit", strconv.Itoa((n+9)/10*10))
			}
		})},
		{name: "the default limit is 10", clause: "limit-default", http: defaultLimit("10")},
		{name: "the default limit is 25", clause: "limit-default", http: defaultLimit("25")},
		{name: "a filtered list has another default limit", clause: "limit-default", http: query(func(get func(string) string, set func(string, string)) {
			if get("limit") == "" && get("status") != "" {
				set("limit", "100")
			}
		})},
		{name: "there is no default limit", clause: "limit-default", http: defaultLimit("100")},
		{name: "limit=1 is refused", clause: "limit-min", http: leastLimit(func(a *answer) { a.status = 400 })},
		{name: "limit=1 gives two", clause: "limit-min", http: query(func(get func(string) string, set func(string, string)) {
			if get("limit") == "1" {
				set("limit", "2")
			}
		})},
		{name: "limit=1 gives none", clause: "limit-min", http: leastLimit(func(a *answer) {
			if a.status == 200 {
				a.body = []byte("[]")
			}
		})},
		{name: "a list ends at 50", clause: "limit-max", http: lists(first(50))},
		{name: "a list ends at 99", clause: "limit-max", http: lists(first(99))},
		{name: "limit=100 is refused", clause: "limit-max", http: answers(list, func(a *answer) {
			if a.request.URL.Query().Get("limit") == "100" && a.request.URL.Query().Get("status") == "" {
				a.status = 400
			}
		})},
		{name: "limit has no maximum", clause: "limit-max", http: noMaximum},

		{name: "the filter is ignored", clause: "filter", http: query(func(_ func(string) string, set func(string, string)) { set("status", "") })},
		{name: "the filter for sold gives pending", clause: "filter", http: query(func(get func(string) string, set func(string, string)) {
			if get("status") == "sold" {
				set("status", "pending")
			}
		})},
		{name: "the filter loses the last pet", clause: "filter", http: lists(func(r *http.Request, l []object) []object {
			if r.URL.Query().Has("status") && len(l) > 0 {
				l = l[:len(l)-1]
			}
			return l
		})},
		{name: "the filter for available lets pets without a status through", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusAvailable && p.Status == ""
		})},
		{name: "the filter for available lets pending through", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusAvailable && p.Status == petstore.StatusPending
		})},
		{name: "the filter for pending gives sold as well", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusPending && p.Status == petstore.StatusSold
		})},
		{name: "the filter for sold gives everything but available", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusSold && p.Status != petstore.StatusAvailable
		})},
		{name: "the filter for sold gives nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s && s != petstore.StatusSold
		})},
		{name: "the filter for available gives nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s && s != petstore.StatusAvailable
		})},
		{name: "the filter for pending gives nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s && s != petstore.StatusPending
		})},
		{name: "without a filter sold pets are hidden", clause: "filter", http: hidden(`"sold"`)},
		{name: "without a filter only available pets are listed", clause: "filter", http: query(func(get func(string) string, set func(string, string)) {
			if get("status") == "" {
				set("status", "available")
			}
		})},
		{name: "pets without a status are not listed", clause: "filter", http: lists(without(func(o object) bool { return o["status"] == nil }))},
		{name: "the filter comes after the limit", clause: "filter-limit", http: filterLast},
		{name: "a filtered list has no limit", clause: "filter-limit", http: query(func(get func(string) string, set func(string, string)) {
			if get("status") != "" {
				set("limit", "100")
			}
		})},
		{name: "a filtered list shows pets as they were before", clause: "replacement", http: answers(list, func(a *answer) {
			if a.request.URL.Query().Has("status") {
				a.body = []byte(strings.ReplaceAll(string(a.body), `"categoryId":`, `"categoryId":1`))
			}
		})},
	}
}

func emptyList(status int, body string) wrapper {
	return answers(list, func(a *answer) {
		if string(a.body) == "[]" {
			a.status, a.body = status, []byte(body)
		}
	})
}

func defaultLimit(n string) wrapper {
	return query(func(get func(string) string, set func(string, string)) {
		if get("limit") == "" {
			set("limit", n)
		}
	})
}

func leastLimit(change func(*answer)) wrapper {
	return answers(list, func(a *answer) {
		if a.request.URL.Query().Get("limit") == "1" {
			change(a)
		}
	})
}

func hidden(status string) wrapper {
	return lists(func(r *http.Request, l []object) []object {
		if r.URL.Query().Has("status") {
			return l
		}
		return slices.DeleteFunc(l, func(o object) bool { return string(o["status"]) == status })
	})
}

// staleLists answers every list as it was asked for first.
func staleLists(next http.Handler) http.Handler {
	var mu sync.Mutex
	kept := map[string][]byte{}
	return answers(list, func(a *answer) {
		mu.Lock()
		defer mu.Unlock()
		if old, ok := kept[a.request.URL.RawQuery]; ok && a.status == 200 {
			a.body = old
		} else if a.status == 200 {
			kept[a.request.URL.RawQuery] = a.body
		}
	})(next)
}

// noMaximum serves limits above 100 from several pages.
func noMaximum(next http.Handler) http.Handler {
	return answers(list, func(a *answer) {
		if n, err := strconv.Atoi(a.request.URL.Query().Get("limit")); err != nil || n <= 100 {
			return
		}
		a.status, a.body = 200, []byte("["+strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150), ",")+"]")
	})(next)
}

// filterLast filters what an unfiltered list of the limit holds.
func filterLast(next http.Handler) http.Handler {
	filter := lists(func(r *http.Request, l []object) []object {
		status := r.Header.Get("X-Filter")
		return slices.DeleteFunc(l, func(o object) bool { return status != "" && unquotedOr(o["status"]) != status })
	})
	return requests(list, func(r *http.Request) {
		q := r.URL.Query()
		r.Header.Set("X-Filter", q.Get("status"))
		q.Del("status")
		r.URL.RawQuery = q.Encode()
	})(filter(next))
}

func unquotedOr(v jsontext.Value) string { return strings.Trim(string(v), `"`) }

// filterWith is a store whose filter decides by match.
func filterWith(match func(petstore.Pet, petstore.Status) bool) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service { return &filtering{s, match} }
}

type filtering struct {
	petstore.Service
	match func(petstore.Pet, petstore.Status) bool
}

func (f *filtering) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	if q.Status == "" {
		return f.Service.ListPets(ctx, q)
	}
	var page petstore.Page
	all := petstore.ListQuery{Limit: petstore.MaxLimit}
	for {
		p, err := f.Service.ListPets(ctx, all)
		if err != nil {
			return page, err
		}
		for _, pet := range p.Pets {
			if f.match(pet, q.Status) && (q.Limit == 0 || len(page.Pets) < q.Limit) {
				page.Pets = append(page.Pets, pet)
			}
		}
		if all.After = p.Next; p.Next == "" {
			return page, nil
		}
	}
}
