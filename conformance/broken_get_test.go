package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// brokenFetches are servers that break GET /v1/pets/{petId}.
func brokenFetches() []variant {
	missing := func(id string, to int) wrapper { return status(fetch+id+" ", 404, to) }
	return []variant{
		{name: "GET /pets/{petId} responds 203", check: "pets.get.status", http: status(fetch, 200, 203)},
		{name: "GET /pets/{petId} is removed too early", check: "pets.get.status", http: status(fetch, 200, 410)},
		{name: "a pet is lost after a second", check: "pets.get.status", pets: forgetsLater},
		{name: "a pet is text/json", check: "pets.get.media-type", http: header(fetch, 200, "Content-Type", "text/json")},
		{name: "a pet lacks its id", check: "pets.get.pet", http: lacks(fetch, 200, "id")},
		{name: "a pet has an unknown status", check: "pets.get.pet", http: set(fetch, 200, "status", `"Available"`)},
		{name: "a pet is in an array", check: "pets.get.pet", http: edit(fetch, 200, `.*`, "[$0]")},
		{name: "a pet is shown with the id 1", check: "pets.get.id", http: set(fetch, 200, "id", "1")},
		{name: "ids go through floating point", check: "pets.get.id", http: edit(fetch, 200, `("id":\d{15})\d{4}\b`, "${1}0000"), pets: largeIDs},
		{name: "a pet is shown as sold", check: "pets.get.created", http: set(fetch, 200, "status", `"sold"`)},
		{name: "a missing pet is null", check: "pets.get.missing", http: replaces(fetch, 404, `.*`, 200, "null")},
		{name: "a missing pet gets 400", check: "pets.get.missing", http: status(fetch, 404, 400)},
		{name: "an id may have zeros before it", check: "pets.get.spelling", http: reads(`/0+([1-9])`, "/$1")},
		{name: "any id returns a pet", check: "pets.get.missing", http: requests(fetch, func(r *http.Request) { r.URL.Path = "/v1/pets/1" })},
		{name: "an id is cut to 32 bits", check: "pets.get.missing", http: cut32},
		{name: "an id that is not assigned yet gets 500", check: "errors.no-5xx", http: missing(`\d{7}`, 500)},
		{name: "an id with a quote gets 500", check: "errors.no-5xx", http: responses(fetch+`\d+%27`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
		{name: "a 404 is remembered", check: "pets.get.status", http: remembers(fetch, 404)},
		{name: "the sunset is on 12 May", check: "deprecation.sunset.date", http: header(fetch, 200, "Sunset", "Sun, 12 May 2030 00:00:00 GMT")},
		{name: "the sunset is two weeks late", check: "deprecation.sunset.date", http: header(fetch, 200, "Sunset", "Thu, 19 Dec 2030 00:00:00 GMT")},
		{name: "a malformed query gets 500", check: "errors.no-5xx", http: status(list, 400, 500)},
		{name: "a deeply nested body makes the handler panic", check: "http.response", http: where(create+`.*\[\[\[`, drops)},
		{name: "a number too large gets 500 with a message", check: "messages.no-5xx", http: status(submit+".*1e400", 400, 500)},
	}
}

// cut32 has IDs of 32 bits.
func cut32(next http.Handler) http.Handler {
	return requests(fetch, func(r *http.Request) {
		id, _ := strconv.ParseInt(path.Base(r.URL.Path), 10, 64)
		r.URL.Path = fmt.Sprint("/v1/pets/", uint32(id))
	})(next)
}

// forgetsLater keeps pets for a second.
func forgetsLater(s *store) {
	create, get := s.DoCreatePet, s.DoGetPet
	var added sync.Map // by ID
	s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		p, err := create(ctx, n, key)
		added.Store(p.ID, time.Now())
		return p, err
	}
	s.DoGetPet = func(ctx context.Context, id int64) (petstore.Pet, error) {
		if at, ok := added.Load(id); ok && time.Since(at.(time.Time)) > time.Second {
			return petstore.Pet{}, petstore.Errorf(petstore.CodeNotFound, "the pet is forgotten")
		}
		return get(ctx, id)
	}
}
