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
func brokenFetches() []broken {
	return []broken{
		{"GET /pets/{petId} responds 203", "pets.get.status", status(fetch, 200, 203), nil},
		{"GET /pets/{petId} is removed too early", "pets.get.status", status(fetch, 200, 410), nil},
		{"a pet is lost after a second", "pets.get.status", nil, forgetsLater},
		{"a pet is text/json", "pets.get.media-type", header(fetch, 200, "Content-Type", "text/json"), nil},
		{"a pet lacks its id", "pets.get.pet", lacks(fetch, 200, "id"), nil},
		{"a pet has an unknown status", "pets.get.pet", set(fetch, 200, "status", `"Available"`), nil},
		{"a pet is in an array", "pets.get.pet", edit(fetch, 200, `.*`, "[$0]"), nil},
		{"a pet is shown with the id 1", "pets.get.id", set(fetch, 200, "id", "1"), nil},
		{"ids go through floating point", "pets.get.id", edit(fetch, 200, `("id":\d{15})\d{4}\b`, "${1}0000"), addToIDs(1 << 62)},
		{"a pet is shown as sold", "pets.get.created", set(fetch, 200, "status", `"sold"`), nil},
		{"a missing pet is null", "pets.get.missing", replaces(fetch, 404, `.*`, 200, "null"), nil},
		{"a missing pet gets 400", "pets.get.missing", status(fetch, 404, 400), nil},
		{"an id may have zeros before it", "pets.get.spelling", reads(`/0+([1-9])`, "/$1"), nil},
		{"any id returns a pet", "pets.get.missing", requests(fetch, func(r *http.Request) { r.URL.Path = "/v1/pets/1" }), nil},
		{"an id is cut to 32 bits", "pets.get.missing", cut32, nil},
		{"an id with a quote gets 500", "errors.no-5xx", refuses(fetch+`\d+%27`, 0, 500), nil},
		{"the sunset is two weeks late", "deprecation.sunset.date", header(fetch, 200, "Sunset", "Thu, 19 Dec 2030 00:00:00 GMT"), nil},
		{"a deeply nested body makes the handler panic", "http.response", where(create+`.*\[\[\[`, drops), nil},
		{"there is no Deprecation", "deprecation.deprecation.present", header(fetch, 200, "Deprecation", ""), nil},
		{"the Deprecation is the word true", "deprecation.deprecation.present", header(fetch, 200, "Deprecation", "true"), nil},
		{"the Deprecation is after the removal", "deprecation.deprecation.present", header(fetch, 200, "Deprecation", "@1956528000"), nil},
		{"the Sunset is not an HTTP date", "deprecation.sunset.present", header(fetch, 200, "Sunset", "2030-12-05"), nil},
	}
}

// cut32 has IDs of 32 bits.
var cut32 = requests(fetch, func(r *http.Request) {
	id, _ := strconv.ParseInt(path.Base(r.URL.Path), 10, 64)
	r.URL.Path = fmt.Sprint("/v1/pets/", uint32(id))
})

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
