package conformance_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// nth applies w to one of the requests that match a pattern.
func nth(n int64, pattern string, w wrapper) wrapper {
	var seen atomic.Int64
	return where(pattern, func(next http.Handler) http.Handler {
		changed := w(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seen.Add(1) == n {
				changed.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// hidden is a store whose lists with a filter, or those without, do not show the pets
// that certain checks add.
func hidden(filtered bool, check string) func(*store) {
	return func(s *store) {
		all := s.list
		lists(func(pets []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(pets, func(p petstore.Pet) bool { return strings.Contains(p.Name, check) })
		})(s)
		some := s.list
		s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			if (q.Status != "") == filtered {
				return some(ctx, q)
			}
			return all(ctx, q)
		}
	}
}

// A check fails if any exchange of the run violates its rule, even if the exchange
// was sent for something else.
func TestEveryExchange(t *testing.T) {
	const (
		list99  = `^GET /v1/pets\?limit=99 `
		sample  = create + `.*-samples-`
		quotes  = submit + `.*messages.text.quotes`
		element = `\{"id":[^{}]*\}`
	)
	for _, tt := range []struct {
		name  string
		http  wrapper
		pets  func(*store)
		check string
		from  string // the checks that send the request; "": the run, or the check itself
	}{
		{name: "a list gets 500", http: nth(3, `^GET /v1/pets\?limit=100 `, status("", 200, 500)), check: "pets.list.status", from: "pets.list.ids"},
		{name: "a gateway responds 502 once", http: nth(3, `^GET /v1/pets\?limit=100 `, status("", 200, 502)), check: "pets.list.status", from: "pets.list.ids"},
		{name: "a list is text", http: where(list99, header("", 200, "Content-Type", "text/plain")), check: "pets.list.media-type", from: "pets.list.limit.between"},
		{name: "a list is an object", http: where(list99, edit("", 200, `.*`, `{"pets":$0}`)), check: "pets.list.array", from: "pets.list.limit.between"},
		{name: "a list has null for a pet", http: where(list99, edit("", 200, `^\[`+element, `[null`)), check: "pets.list.pet", from: "pets.list.limit.between"},
		{name: "a list has a pet twice", http: where(list99, edit("", 200, `^\[(`+element+`),`+element, `[$1,$1`)), check: "pets.list.ids", from: "pets.list.limit.between"},
		{name: "a list shows a pet with another name", http: where(list99, edit("", 200, `first-pet`, `last-pet`)), check: "pets.list.same", from: "pets.list.limit.between"},
		{name: "a list lacks a pet", pets: hidden(false, "first-pet"), check: "pets.list.created"},
		{name: "a filter loses a pet", pets: hidden(true, "pets.create.name"), check: "pets.list.filter.pending.all", from: "pets.create.name.case"},
		{name: "a filtered list has another pet", http: where(`limit=3&status=sold`, edit("", 200, `"sold"`, `"pending"`)), check: "pets.list.filter.sold.only", from: "pets.list.limit.filtered"},
		{name: "a list with the limit 0 has too many pets", http: replaces(`\?limit=0 `, 400, `.*`, 200, "["+strings.Repeat("{},", 100)+"{}]"), check: "pets.list.limit.above", from: "pets.list.open.limit"},
		{name: "a list with an unknown parameter gets 500", http: status(`\?color=red `, 200, 500), check: "errors.no-5xx", from: "pets.list.open.query"},

		{name: "a pet gets 404", http: nth(3, fetch, refuses("", 200, 404)), check: "pets.get.status", from: "pets.create.category.*"},
		{name: "a pet is text", http: nth(3, fetch, header("", 200, "Content-Type", "text/plain")), check: "pets.get.media-type", from: "pets.create.category.*"},
		{name: "a pet lacks its category", http: nth(3, fetch, lacks("", 200, "categoryId")), check: "pets.get.pet", from: "pets.create.category.*"},
		{name: "a pet has another id", http: nth(3, fetch, set("", 200, "id", "123456")), check: "pets.get.id", from: "pets.create.category.*"},
		{name: "a pet has another name", http: nth(3, fetch, set("", 200, "name", `"Rex"`)), check: "pets.get.created", from: "pets.create.category.*"},

		{name: "a valid pet is refused", http: nth(3, sample, refuses("", 201, 400)), check: "pets.create.status", from: "pets.list.created"},
		{name: "a new pet is text", http: nth(3, sample, header("", 201, "Content-Type", "text/plain")), check: "pets.create.media-type", from: "pets.list.created"},
		{name: "a new pet lacks its category", http: nth(3, sample, lacks("", 201, "categoryId")), check: "pets.create.pet", from: "pets.list.created"},
		{name: "a new pet has another name", http: nth(3, sample, set("", 201, "name", `"Rex"`)), check: "pets.create.echo", from: "pets.list.created"},
		{name: "a new pet has the id of another", http: nth(3, sample, set("", 201, "id", "1")), check: "pets.create.id.run", from: "pets.list.created"},

		{name: "a record has a number as id", http: where(quotes, set("", 202, "id", "7")), check: "messages.id", from: "messages.text.quotes"},
		{name: "two records have the same id", http: where(submit+`.*messages.text`, set("", 202, "id", `"m"`)), check: "messages.id.unique", from: "messages.text.*"},
		{name: "a record has no text", http: where(submit+`.*submission`, lacks("", 202, "message")), check: "messages.echo"},
		{name: "a record is sent", http: where(quotes, set("", 202, "status", `"sent"`)), check: "messages.queued", from: "messages.text.quotes"},
		{name: "a record has a local time", http: where(quotes, texts("", 202, "createdAt", replace("Z", ""))), check: "messages.time", from: "messages.text.quotes"},
		{name: "a record is of another year", http: where(quotes, set("", 202, "createdAt", `"2001-01-01T00:00:00Z"`)), check: "messages.time.now", from: "messages.text.quotes"},
		{name: "a message with an unknown member gets 500", http: status(submit+`.*priority`, 202, 500), check: "messages.status", from: "messages.open.answer"},
		{name: "a message without text gets 500", http: status(submit+`.*"text":`, 400, 500), check: "messages.no-5xx", from: "messages.400.required.other"},

		{name: "the 400 for a limit has no code", http: where(`\?limit=0 `, lacks("", 400, "code")), check: "errors.400.code", from: "pets.list.open.limit"},
		{name: "a 415 is text", http: where(create+`.*Content-Type: text/plain`, both(header("", 415, "Content-Type", "text/plain"), refuses("", 400, 415))), check: "errors.400.media-type", from: "pets.create.open.media-type"},
		{name: "the 404 for the id 0 has no message", http: where(fetch+"0 ", lacks("", 404, "message")), check: "errors.404.message", from: "pets.get.edges"},
		{name: "the 401 for a wrong request has no status", http: where(`status=lost .*`, lacks("", 401, "status")), check: "errors.401.status", from: "auth.list.first"},
		{name: "the first request without a key gets a list", http: nth(1, `^GET /v1/pets\?limit=1 .*Accept-Encoding: identity\r\nUser-Agent`, replaces("", 401, `.*`, 200, "[]")), check: "auth.list.none"},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http, pets: tt.pets}, conformance.Options{Parallel: 1, Seed: 1, Run: append(strings.Fields(tt.from), tt.check)})
			if got := result(t, r, tt.check); !got.CountsAgainst(conformance.Recommended) {
				t.Errorf("%s: %s, %s\n%s", tt.check, got.Verdict, got.Message, text(r))
			}
		})
	}
}

// late is a store that shows a pet in lists a while after it was added.
func late(d time.Duration) func(*store) {
	return func(s *store) {
		var added sync.Map // the times by id
		create := s.create
		s.create = func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
			p, err := create(ctx, n, once)
			added.Store(p.ID, time.Now())
			return p, err
		}
		lists(func(all []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(all, func(p petstore.Pet) bool {
				at, ok := added.Load(p.ID)
				return !ok || time.Since(at.(time.Time)) < d
			})
		})(s)
	}
}

// A list that shows new pets late is one finding.
func TestLateList(t *testing.T) {
	t.Parallel()
	for parallel, d := range map[int]time.Duration{1: 50 * time.Millisecond, 8: 500 * time.Millisecond} {
		r := run(t, variant{pets: late(d)}, conformance.Options{Parallel: parallel})
		var failed []string
		for _, result := range r.Results {
			if result.Verdict == conformance.Fail || result.Verdict == conformance.Warn {
				failed = append(failed, result.ID)
			}
		}
		if !slices.Equal(failed, []string{"pets.list.created"}) {
			t.Errorf("with parallel %d these checks failed: %v\n%s", parallel, failed, text(r))
		}
	}
}

// A check that cannot tell because the target violates what another check tests
// names that check.
func TestBecause(t *testing.T) {
	for _, tt := range []struct {
		name, check, because string
		http                 wrapper
	}{
		{"no pet can be created", "pets.get.created", "pets.create.status", status(create, 201, 500)},
		{"a new pet has no id", "pets.get.created", "pets.create.pet", lacks(create, 201, "id")},
		{"lists are objects", "pets.list.pet", "pets.list.array", edit(list, 200, `.*`, `{"pets":$0}`)},
		{"every list gets 404", "pets.list.array", "pets.list.status", refuses(list, 200, 404)},
		{"messages get 404", "messages.echo", "messages.status", refuses(submit+`.*conformance`, 202, 404)},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			got := result(t, run(t, variant{http: tt.http}, conformance.Options{Run: []string{tt.check}}), tt.check)
			if got.Verdict != conformance.Inconclusive || !strings.HasSuffix(got.Message, "; see "+tt.because) {
				t.Errorf("%s: %s, %s; want inconclusive, see %s", tt.check, got.Verdict, got.Message, tt.because)
			}
		})
	}
}
