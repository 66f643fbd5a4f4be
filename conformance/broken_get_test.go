package conformance_test

import (
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"
)

// brokenFetches are servers that break GET /v1/pets/{petId}.
func brokenFetches() []broken {
	return []broken{
		{"GET /pets/{petId} is removed too early", "pets.get.status", status(fetch, 200, 410), nil},
		{"pets are lost after a second", "pets.get.status", since(time.Second, status(fetch, 200, 404)), nil},
		{"a pet is text/json", "pets.get.media-type", header(fetch, 200, "Content-Type", "text/json"), nil},
		{"a pet lacks its id", "pets.get.pet", lacks(fetch, 200, "id"), nil},
		{"a pet has an unknown status", "pets.get.pet", set(fetch, 200, "status", `"Available"`), nil},
		{"a pet is in an array", "pets.get.pet", edit(fetch, 200, `.*`, "[$0]"), nil},
		{"a pet is shown with the id 1", "pets.get.id", set(fetch, 200, "id", "1"), nil},
		{"a pet is shown as sold", "pets.get.created", set(fetch, 200, "status", `"sold"`), nil},
		{"a missing pet gets 400", "pets.get.missing", status(fetch, 404, 400), nil},
		{"an id may have zeros before it", "pets.get.spelling", reads(`/0+([1-9])`, "/$1"), nil},
		{"an id is cut to 32 bits", "pets.get.missing", cut32, nil},
		{"an id with a quote gets 500", "errors.no-5xx", refuses(fetch+`\d+%27`, 0, 500), nil},
		{"the sunset is two weeks late", "deprecation.sunset.date", header(fetch, 200, "Sunset", "Thu, 19 Dec 2030 00:00:00 GMT"), nil},
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
