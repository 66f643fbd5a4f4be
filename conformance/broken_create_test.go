package conformance_test

import (
	"cmp"
	"context"
	"errors"
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
func brokenCreations() []variant {
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
	idsTo := func(last int) wrapper {
		return values(create, 201, "id", func(id string) string {
			n, _ := strconv.Atoi(id)
			return strconv.Itoa(n%last + 1)
		})
	}
	return []variant{
		{name: "POST /pets responds 200", check: "pets.create.status", http: status(create, 201, 200)},
		{name: "a small pet gets 413", check: "pets.create.status", http: rejects(create+`.*"sold"`, 413)},
		{name: "the response to POST /pets has no body", check: "pets.create.pet", http: edit(create, 201, `.*`, "")},
		{name: "the response to POST /pets is only the id", check: "pets.create.pet", http: edit(create, 201, `,.*`, "}")},
		{name: "the response to POST /pets has the id in a string", check: "pets.create.pet", http: edit(create, 201, `"id":(\d+)`, `"id":"$1"`)},
		{name: "the response to POST /pets has null for an absent status", check: "pets.create.pet", http: edit(create, 201, `("categoryId":-?\d+)\}`, `$1,"status":null}`)},
		{name: "the response to POST /pets is text/html", check: "pets.create.media-type", http: header(create, 201, "Content-Type", "text/html")},
		{name: "the response to POST /pets shows another category", check: "pets.create.category", http: set(create, 201, "categoryId", "12")},
		{name: "the response to POST /pets shows another name", check: "pets.create.name", http: set(create, 201, "name", `"Rex"`)},
		{name: "a status is required", check: "pets.create.status.absent", pets: sets("", "none")},

		{name: "a pet that is like another gets its id", check: "pets.create.id.unique", http: repeats(create, 201)},
		{name: "ids start again after five", check: "pets.create.id.unique", http: idsTo(5)},

		{name: "pending is refused", check: "pets.create.status", http: refuses(create+`.*"pending"`, 201, 400)},
		{name: "pending and sold are mixed up", check: "pets.create.status.kept", pets: sets("pending", "sold")},

		{name: "a status is left over", check: "pets.create.status.before", pets: leftOver},
		{name: "the id of a new pet is a float", check: "pets.integers", http: edit(create, 201, `"id":(\d+)`, `"id":$1.0`)},

		{name: "a body with white space is refused", check: "pets.create.status", http: refuses(create+`.*\n\t`, 201, 400)},
		{name: "escaped names of members are not understood", check: "pets.create.status", http: refuses(create+`.*n\\u0061me`, 201, 400)},
		{name: "members must come in order", check: "pets.create.status", http: refuses(create+`.*"categoryId".*"name"`, 201, 400)},
		{name: "members in another case overwrite others", check: "pets.create.name", http: takes(create, `"name":"[^"]*"(.*),"Name":("[^"]*").*\}`, `"name":$2$1}`)},
		{name: "the first name in a body counts", check: "pets.create.name", http: takes(create, `^\{"owner":\{"name":("[^"]*").*\],"name":"[^"]*"`, `{"name":$1`)},
		{name: "a pet with the name of another gets 409", check: "pets.create.status", pets: refusesNames(petstore.CodeConflict)},

		{name: "every fifth pet is stored twice", check: "pets.create.once", pets: storesTwice},
		{name: "nothing is stored", check: "pets.get.status", http: edit(create, 201, `"id":`, `"id":1000000`)},
		{name: "a pet is stored a while later", check: "pets.get.status", http: refuses(fetch, 200, 404)},
		{name: "a pet is stored in capitals", check: "pets.get.created", http: edit(fetch, 200, "Conf", "CONF")},
		{name: "two concurrent requests get the same id", check: "pets.get.created", pets: racing(false)},
		{name: "one of two concurrent requests fails", check: "pets.create.status", pets: racing(true)},
		{name: "a refused pet is stored", check: "pets.create.refused", http: storesRefused(400)},
		{name: "a pet with quotes in its name is refused and stored", check: "pets.create.refused", http: stores(400, func(sent string) string {
			return compile(`"name":"a\\"b[^}]*`).FindString(sent)
		})},
		{name: "a pet without a valid key is stored", check: "pets.create.refused", http: storesRefused(401)},

		{name: "names with what is beyond the basic plane get 500", check: "pets.create.status", http: refuses(create+".*🦊", 201, 500)},

		{name: "categories go through floating point", check: "pets.create.category", pets: category(func(n int64) int64 { return 2 * int64(float64(n)/2) })},
		{name: "categories are of 32 bits", check: "pets.create.category", pets: category(func(n int64) int64 { return int64(int32(n)) })},
		{name: "categories lose their sign", check: "pets.create.category", pets: category(func(n int64) int64 { return max(n, -n) })},
		{name: "the exponent of a category is lost", check: "pets.create.category", http: takes(create, `("categoryId":\d+)[eE]\+?2`, "$1")},
		{name: "a fraction of zero is refused with 500", check: "pets.create.status", http: responses(create+`.*"categoryId":\d+\.0`, 0, func(res *response) { res.status = 500 })},
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

// storesRefused stores the pets that it refuses with a status.
func storesRefused(status int) wrapper {
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
				r.Header.Set("Authorization", "Bearer "+testKey)
				r.Header.Set("Content-Type", "application/json")
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
		})(next)
	}
}

// meet is how long an operation waits for others that are sent at the same time.
const meet = 3 * time.Millisecond

// racing makes a store fail, or repeat an ID, when pets are added concurrently.
func racing(fail bool) func(*store) {
	return func(s *store) {
		create := s.DoCreatePet
		var active, previous atomic.Int64
		s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			others := active.Add(1) > 1
			defer active.Add(-1)
			time.Sleep(meet)
			if others && fail {
				return petstore.Pet{}, errors.New("the table is locked")
			}
			p, err := create(ctx, n, key)
			if other := previous.Swap(p.ID); others && other > 0 {
				p.ID = other
			}
			return p, err
		}
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
