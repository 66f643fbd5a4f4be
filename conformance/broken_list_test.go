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

// brokenLists break GET /v1/pets.
func brokenLists() []variant {
	first := func(n int) func(*http.Request, []object) []object {
		return func(_ *http.Request, l []object) []object { return l[:min(n, len(l))] }
	}
	without := func(drop func(object) bool) func(*http.Request, []object) []object {
		return func(_ *http.Request, l []object) []object { return slices.DeleteFunc(l, drop) }
	}
	return []variant{
		{name: "GET /pets responds 206", clause: "list", http: status(list, 200, 206)},
		{name: "a list gets 500 when it is long", clause: "list", http: responses(list, func(res *response) {
			if len(res.body) > 300 {
				res.status = 500
			}
		})},
		{name: "a list is text/plain", clause: "media-type", http: header(list, 200, "Content-Type", "text/plain; charset=utf-8")},
		{name: "a list has no Content-Type", clause: "media-type", http: header(list, 200, "Content-Type", "")},
		{name: "a list is application/hal+json", clause: "media-type", http: header(list, 200, "Content-Type", "application/hal+json")},

		{name: "a list is text/html to clients that accept anything", clause: "media-type", http: responses(list, func(res *response) {
			if res.request.Header.Get("Accept") == "*/*" {
				res.header.Set("Content-Type", "text/html")
			}
		})},
		{name: "a list is wrapped in an object", clause: "array", http: responses(list, func(res *response) {
			if res.status == 200 {
				res.body = []byte(`{"pets":` + string(res.body) + `}`)
			}
		})},
		{name: "a list of one is an object", clause: "array", http: responses(list, func(res *response) {
			if res.request.URL.RawQuery == "limit=1" && res.status == 200 && len(res.body) > 2 {
				res.body = res.body[1 : len(res.body)-1]
			}
		})},
		{name: "a list begins with a byte order mark", clause: "array", http: responses(list, func(res *response) { res.body = append([]byte("\xef\xbb\xbf"), res.body...) })},
		{name: "a list has a comma after its last pet", clause: "array", http: responses(list, func(res *response) {
			res.body = []byte(strings.Replace(string(res.body), "}]", "},]", 1))
		})},
		{name: "an empty list is null", clause: "array", http: emptyList(200, "null")},
		{name: "an empty list is an empty object", clause: "array", http: emptyList(200, "{}")},
		{name: "an empty list has no body", clause: "array", http: emptyList(200, "")},
		{name: "an empty list is 204", clause: "array", http: emptyList(204, "")},
		{name: "an empty list is 404", clause: "array", http: emptyList(404, `{"code":"not_found","message":"none","status":404}`)},
		{name: "a list has one pet per line", clause: "array", http: responses(list, func(res *response) {
			if res.status == 200 {
				res.body = []byte(strings.ReplaceAll(strings.Trim(string(res.body), "[]"), "},{", "}\n{"))
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
		{name: "a list has names instead of pets", clause: "pet", http: responses(list, func(res *response) {
			if res.status == 200 && len(res.body) > 2 {
				res.body = []byte(`["Rex"]`)
			}
		})},

		{name: "a list has a pet twice", clause: "id-unique", http: lists(func(_ *http.Request, l []object) []object {
			if len(l) > 1 {
				l[len(l)-1] = l[0]
			}
			return l
		})},
		{name: "a list is outdated", clause: "list-shows", http: staleLists},
		{name: "a list lacks the newest pet", clause: "list-shows", http: lists(func(r *http.Request, l []object) []object {
			return l[:max(0, min(len(l)-1, 99))]
		})},
		{name: "a list shows names in upper case", clause: "list-shows", http: objects(list, 200, func(o object) {
			o["name"] = quoted(strings.ToUpper(unquoted(o["name"])))
		})},
		{name: "a list shows every pet as available", clause: "list-shows", http: set(list, 200, "status", `"available"`)},
		{name: "a list shows another category", clause: "list-shows", http: set(list, 200, "categoryId", "7")},

		{name: "limit is ignored", clause: "limit", http: query(func(_ func(string) string, set func(string, string)) { set("limit", "20") })},
		{name: "limit is one too large", clause: "limit", http: query(func(get func(string) string, set func(string, string)) {
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
		{name: "limit=1 is refused", clause: "limit-min", http: leastLimit(func(res *response) { res.status = 400 })},
		{name: "limit=1 returns two", clause: "limit-min", http: query(func(get func(string) string, set func(string, string)) {
			if get("limit") == "1" {
				set("limit", "2")
			}
		})},
		{name: "limit=1 returns none", clause: "limit-min", http: leastLimit(func(res *response) {
			if res.status == 200 {
				res.body = []byte("[]")
			}
		})},
		{name: "a list ends at 50", clause: "limit-max", http: lists(first(50))},
		{name: "a list ends at 99", clause: "limit-max", http: lists(first(99))},
		{name: "limit=100 is refused", clause: "limit-max", http: responses(list, func(res *response) {
			if res.request.URL.Query().Get("limit") == "100" && res.request.URL.Query().Get("status") == "" {
				res.status = 400
			}
		})},
		{name: "limit has no maximum", clause: "limit-max", http: noMaximum},

		{name: "the filter is ignored", clause: "filter", http: query(func(_ func(string) string, set func(string, string)) { set("status", "") })},
		{name: "the filter for sold returns pending", clause: "filter", http: query(func(get func(string) string, set func(string, string)) {
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
		{name: "the filter for available returns pets without a status too", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusAvailable && p.Status == ""
		})},
		{name: "the filter for available returns pending too", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusAvailable && p.Status == petstore.StatusPending
		})},
		{name: "the filter for pending returns sold too", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusPending && p.Status == petstore.StatusSold
		})},
		{name: "the filter for sold returns everything except available", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s || s == petstore.StatusSold && p.Status != petstore.StatusAvailable
		})},
		{name: "the filter for sold returns nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s && s != petstore.StatusSold
		})},
		{name: "the filter for available returns nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
			return p.Status == s && s != petstore.StatusAvailable
		})},
		{name: "the filter for pending returns nothing", clause: "filter", pets: filterWith(func(p petstore.Pet, s petstore.Status) bool {
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
		{name: "a filtered list shows other categories", clause: "replacement", http: responses(list, func(res *response) {
			if res.request.URL.Query().Has("status") {
				res.body = []byte(strings.ReplaceAll(string(res.body), `"categoryId":`, `"categoryId":1`))
			}
		})},
	}
}

func emptyList(status int, body string) wrapper {
	return responses(list, func(res *response) {
		if string(res.body) == "[]" {
			res.status, res.body = status, []byte(body)
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

func leastLimit(change func(*response)) wrapper {
	return responses(list, func(res *response) {
		if res.request.URL.Query().Get("limit") == "1" {
			change(res)
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

// staleLists returns the first response to each query again.
func staleLists(next http.Handler) http.Handler {
	var mu sync.Mutex
	kept := map[string][]byte{}
	return responses(list, func(res *response) {
		mu.Lock()
		defer mu.Unlock()
		if old, ok := kept[res.request.URL.RawQuery]; ok && res.status == 200 {
			res.body = old
		} else if res.status == 200 {
			kept[res.request.URL.RawQuery] = res.body
		}
	})(next)
}

// noMaximum returns more than 100 pets for limits above 100.
func noMaximum(next http.Handler) http.Handler {
	return responses(list, func(res *response) {
		if n, err := strconv.Atoi(res.request.URL.Query().Get("limit")); err != nil || n <= 100 {
			return
		}
		res.status, res.body = 200, []byte("["+strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"a","categoryId":1},`, 150), ",")+"]")
	})(next)
}

// filterLast applies the filter after the limit.
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

// filterWith returns a store whose filter is match.
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
