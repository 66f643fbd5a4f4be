package conformance_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// brokenCreations are servers that break POST /v1/pets with a valid body.
func brokenCreations() []broken {
	category := func(change func(int64) int64) func(*store) {
		return creates(func(n *petstore.NewPet) { n.CategoryID = change(n.CategoryID) })
	}
	sets := func(from, to petstore.Status) func(*store) {
		return creates(func(n *petstore.NewPet) {
			if n.Status == from {
				n.Status = to
			}
		})
	}
	return []broken{
		{"POST /pets responds 200", "pets.create.status", status(create, 201, 200), nil},
		{"a small pet gets 413", "pets.create.status", rejects(create+`.*"sold"`, 413), nil},
		{"the response to POST /pets has no body", "pets.create.pet", edit(create, 201, `.*`, ""), nil},
		{"the response to POST /pets is only the id", "pets.create.pet", edit(create, 201, `,.*`, "}"), nil},
		{"the response to POST /pets shows another category", "pets.create.category", set(create, 201, "categoryId", "12"), nil},
		{"a status is required", "pets.create.status.absent", nil, sets("", "none")},
		{"a pet that is like another gets its id", "pets.create.id.unique", repeats(create, 201), nil},
		{"ids start again after five", "pets.create.id.unique", values(create, 201, "id", func(id string) string {
			n, _ := strconv.Atoi(id)
			return strconv.Itoa(n%5 + 1)
		}), nil},
		{"pending and sold are mixed up", "pets.create.status.kept", nil, sets("pending", "sold")},
		{"a status is left over", "pets.create.status.before", nil, leftOver},
		{"the id of a new pet is a float", "pets.integers", edit(create, 201, `"id":(\d+)`, `"id":$1.0`), nil},
		{"escaped names of members are not understood", "pets.create.status", refuses(create+`.*n\\u0061me`, 201, 400), nil},
		{"the first name in a body counts", "pets.create.name", takes(create, `^\{"owner":\{"name":("[^"]*").*\],"name":"[^"]*"`, `{"name":$1`), nil},
		{"a pet with the name of another gets 409", "pets.create.status", nil, refusesNames(petstore.CodeConflict)},
		{"every pet is stored twice", "pets.create.once", storesAgain(201), nil},
		{"nothing is stored", "pets.get.status", edit(create, 201, `"id":`, `"id":1000000`), nil},
		{"a pet is stored a while later", "pets.get.status", refuses(fetch, 200, 404), nil},
		{"a pet is stored in capitals", "pets.get.created", edit(fetch, 200, "Conf", "CONF"), nil},
		{"two concurrent requests get the same id", "pets.get.created", nil, racing},
		{"a refused pet is stored", "pets.create.refused", storesAgain(400), nil},
		{"a pet with quotes in its name is refused and stored", "pets.create.refused", stores(400, func(sent string) string {
			return compile(`"name":"a\\"b[^}]*`).FindString(sent)
		}), nil},
		{"a pet without a valid key is stored", "pets.create.refused", storesAgain(401), nil},
		{"categories go through floating point", "pets.create.category", nil, category(func(n int64) int64 { return 2 * int64(float64(n)/2) })},
		{"categories are of 32 bits", "pets.create.category", nil, category(func(n int64) int64 { return int64(int32(n)) })},
		{"the exponent of a category is lost", "pets.create.category", takes(create, `("categoryId":\d+)[eE]\+?2`, "$1"), nil},
		{"a fraction of zero is refused with 500", "pets.create.status", refuses(create+`.*"categoryId":\d+\.0`, 0, 500), nil},
		{"requests that are wrong are accepted", "pets.create.400.values messages.form", accepts, nil},
		{"a body ends where its object does", "pets.create.400.body", takes(create, `^(\{[^{}]*\}).+$`, `$1`), nil},
		{"a body that is not JSON gets 422", "pets.create.400.body", refuses(create+`.*[^}]$`, 400, 422), nil},
		{"a body that is not JSON gets 500", "errors.no-5xx", status(create, 400, 500), nil},
		{"an unpaired surrogate gets 500", "pets.create.surrogate", refuses(create+`.*\\ud800","cat`, 0, 500), nil},
		{"names lose the spaces at their ends", "pets.create.name", nil, creates(func(n *petstore.NewPet) { n.Name = strings.TrimSpace(n.Name) })},
	}
}

// repeats responds to equal requests with the body of the first response that has
// the status.
func repeats(op string, of int) wrapper {
	return func(next http.Handler) http.Handler {
		var first sync.Map // by query and body
		return responses(op, of, func(res *response) {
			body, _ := first.LoadOrStore(res.request.URL.RawQuery+res.sent, res.body)
			res.body = body.(string)
		})(next)
	}
}

// storesAgain stores the pets to which it responds with a status, perhaps once more.
func storesAgain(status int) wrapper {
	name := compile(`"name":"Conf[^"]*"`)
	return stores(status, func(sent string) string { return name.FindString(sent) })
}

// storesAs stores a pet with that name for each body without one.
func storesAs(name string) wrapper {
	return stores(400, func(sent string) string {
		if sent == "{}" {
			return `"name":"` + name + `"`
		}
		return ""
	})
}

// stores stores a pet for requests that it refuses with a status. name returns the member of the
// pet for a body, or "" if it stores none.
func stores(status int, name func(sent string) string) wrapper {
	return func(next http.Handler) http.Handler {
		return responses(create, status, func(res *response) {
			if name := name(res.sent); name != "" {
				r := httptest.NewRequest("POST", "/v1/pets", strings.NewReader(`{"categoryId":1,`+name+`}`))
				withKey(r)
				r.Header.Set("Content-Type", "application/json")
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
		})(next)
	}
}

// meet is how long an operation waits for others that are sent at the same time.
const meet = 3 * time.Millisecond

// racing makes a store repeat an ID when pets are added concurrently.
func racing(s *store) {
	create := s.DoCreatePet
	var active, previous atomic.Int64
	s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		others := active.Add(1) > 1
		defer active.Add(-1)
		time.Sleep(meet)
		p, err := create(ctx, n, key)
		if other := previous.Swap(p.ID); others && other > 0 {
			p.ID = other
		}
		return p, err
	}
}

// leftOver gives a pet without a status the status of the previous pet.
func leftOver(s *store) {
	var mu sync.Mutex
	var last petstore.Status
	creates(func(n *petstore.NewPet) {
		mu.Lock()
		defer mu.Unlock()
		last = cmp.Or(n.Status, last)
		n.Status = last
	})(s)
}
