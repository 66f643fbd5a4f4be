package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// brokenCreations are servers that break POST /v1/pets with a valid body.
func brokenCreations() []variant {
	name := func(change func(string) string) wrapper {
		return members(create, func(o object) {
			if o["name"].Kind() == '"' {
				o["name"] = quoted(change(unquoted(o["name"])))
			}
		})
	}
	category := func(change func(*big.Int) *big.Int) wrapper {
		return members(create, func(o object) {
			if n, ok := new(big.Int).SetString(string(o["categoryId"]), 10); ok && n.IsInt64() {
				o["categoryId"] = jsontext.Value(change(n).String())
			}
		})
	}
	idsTo := func(last int) wrapper {
		return objects(create, 201, func(o object) {
			n, _ := strconv.Atoi(string(o["id"]))
			o["id"] = jsontext.Value(strconv.Itoa(n%last + 1))
		})
	}
	return []variant{
		{name: "POST /pets responds 200", clause: "create", http: status(create, 201, 200)},
		{name: "POST /pets responds 202", clause: "create", http: status(create, 201, 202)},
		{name: "POST /pets always responds 500", clause: "create", http: status(create, 201, 500)},
		{name: "POST /pets always responds 400, even with a category that exists", clause: "create",
			http: status(create, 201, 400), opts: withCategory(1)},
		{name: "the response to POST /pets has no body", clause: "pet", http: edit(create, 201, `.*`, "")},
		{name: "the response to POST /pets is only the id", clause: "pet", http: edit(create, 201, `,.*`, "}")},
		{name: "the response to POST /pets lacks the id", clause: "pet", http: set(create, 201, "id", "")},
		{name: "the response to POST /pets has the id in a string", clause: "pet", http: edit(create, 201, `"id":(\d+)`, `"id":"$1"`)},
		{name: "the response to POST /pets has an id of 70 bits", clause: "pet", http: set(create, 201, "id", "1180591620717411303424")},
		{name: "the response to POST /pets is wrapped", clause: "pet", http: edit(create, 201, `.*`, `{"pet":$0}`)},
		{name: "the response to POST /pets has null for an absent status", clause: "pet", http: edit(create, 201, `("categoryId":-?\d+)\}`, `$1,"status":null}`)},
		{name: "the response to POST /pets is text/html", clause: "media-type", http: header(create, 201, "Content-Type", "text/html")},
		{name: "the response to POST /pets shows another category", clause: "create", http: set(create, 201, "categoryId", "12")},
		{name: "the response to POST /pets shows another name", clause: "create", http: set(create, 201, "name", `"Rex"`)},
		{name: "a status is required", clause: "status-optional", http: defaults(create, "status", `"none"`)},

		{name: "every new pet gets the same id", clause: "id-unique", http: set(create, 201, "id", "7")},
		{name: "a pet that is like another gets its id", clause: "id-unique", http: sameAgain},
		{name: "ids start again after five", clause: "id-unique", http: idsTo(5)},
		{name: "ids start again after forty", clause: "id-unique", http: idsTo(40)},
		{name: "the client chooses the id", clause: "id-unique", http: chosenID},
		{name: "POST /pets with the id of a pet changes that pet", clause: "id-unique", http: overwrites},

		{name: "available is not kept", clause: "status-set", http: accepts(create, "status", `^"available"$`, "")},
		{name: "pending is refused", clause: "status-set", http: refuses(create, 400, `"pending"`)},
		{name: "sold becomes available", clause: "status-set", http: accepts(create, "status", `^"sold"$`, `"available"`)},
		{name: "pending and sold are mixed up", clause: "status-set", http: accepts(create, "status", `^"pending"$`, `"sold"`)},

		{name: "a body with white space is refused", clause: "create-body", http: refuses(create, 400, `\n\t`)},
		{name: "escaped names of members are not understood", clause: "create-body", http: refuses(create, 400, `n\\u0061me`)},
		{name: "members must come in order", clause: "create-body", http: refuses(create, 400, `"categoryId".*"name"`)},

		{name: "nothing is stored", clause: "create-adds", http: edit(create, 201, `"id":`, `"id":1000000`)},
		{name: "a pet is stored a while later", clause: "create-adds", http: storesLate},
		{name: "a pet is stored in capitals", clause: "create-adds", http: edit(fetch, 200, "conformance", "CONFORMANCE")},
		{name: "two concurrent requests get the same id", clause: "create-adds", pets: racing(false)},
		{name: "one of two concurrent requests fails", clause: "create-adds", pets: racing(true)},
		{name: "a refused pet is stored", clause: "create-refused", http: storesRefused(400, "")},
		{name: "a pet without a valid key is stored", clause: "key-create", http: storesRefused(401, testKey)},

		{name: "names lose the spaces at their ends", clause: "name", http: name(strings.TrimSpace)},
		{name: "names lose repeated spaces", clause: "name", http: name(func(s string) string { return strings.Join(strings.Fields(s), " ") })},
		{name: "names become lower case", clause: "name", http: name(strings.ToLower)},
		{name: "names become upper case", clause: "name", http: name(strings.ToUpper)},
		{name: "names end at a NUL", clause: "name", http: name(replace(`\x00.*`, ""))},
		{name: "names lose control characters", clause: "name", http: name(replace(`[\x01-\x1f]`, ""))},
		{name: "names have their line ends changed", clause: "name", http: name(replace(`\r\n`, "\n"))},
		{name: "names are cut at 255 bytes", clause: "name", http: name(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 255)], "") })},
		{name: "names are escaped for HTML", clause: "name", http: name(strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace)},
		{name: "names lose their markup", clause: "name", http: name(replace(`</?b>`, ""))},
		{name: "names are decoded like a URL", clause: "name", http: name(replace(`%20|\+`, " "))},
		{name: "names lose leading zeros", clause: "name", http: name(replace(`^0+`, ""))},
		{name: "names have their quotes doubled", clause: "name", http: name(replace(`'`, "''"))},
		{name: "names lose backslashes", clause: "name", http: name(replace(`\\`, ""))},
		{name: "names are normalized", clause: "name", http: name(strings.NewReplacer("e\u0301", "é", "A\u030a", "Å", "\u212b", "Å").Replace)},
		{name: "names lose what is beyond the basic plane", clause: "name", http: name(replace(`[\x{10000}-\x{10FFFF}]`, "?"))},
		{name: "names with what is beyond the basic plane get 500", clause: "name", http: refuses(create, 500, "🦊")},
		{name: "names lose what is not Latin", clause: "name", http: name(replace(`[\x{250}-\x{FFFF}]`, "?"))},
		{name: "names in other scripts are refused", clause: "name", http: refuses(create, 400, "猫")},
		{name: "names in a list are cut", clause: "name", http: texts(list, 200, "name", func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 100)], "") })},
		{name: "the letter 龍 is lost", clause: "create", http: name(replace("龍", ""))},

		{name: "categories go through floating point", clause: "category", http: category(func(n *big.Int) *big.Int {
			f, _ := new(big.Float).SetPrec(53).SetInt(n).Int(nil)
			if !f.IsInt64() {
				f = big.NewInt(1<<63 - 1)
			}
			return f
		})},
		{name: "categories are of 32 bits", clause: "category", http: category(func(n *big.Int) *big.Int { return big.NewInt(int64(int32(n.Int64()))) })},
		{name: "categories lose their sign", clause: "category", http: category(func(n *big.Int) *big.Int {
			if n = new(big.Int).Abs(n); !n.IsInt64() {
				n.Sub(n, big.NewInt(1))
			}
			return n
		})},
		{name: "categories beyond 2^53 are refused", clause: "category", http: refuses(create, 400, "9007199254740993")},
		{name: "the category 0 is refused", clause: "category", http: refuses(create, 400, `"categoryId":0,`)},
		{name: "the smallest category is refused", clause: "category", http: refuses(create, 400, "-9223372036854775808")},
		{name: "the largest category is refused", clause: "category", http: refuses(create, 400, "9223372036854775807")},
		{name: "the category 0 is treated as absent", clause: "category", http: edit(create, 201, `"categoryId":0\b`, `"categoryId":-1`)},
		{name: "the smallest category becomes the largest", clause: "category", http: edit(fetch, 200, "-9223372036854775808", "9223372036854775807")},
	}
}

// chosenID responds with the id in the body of the request.
func chosenID(next http.Handler) http.Handler {
	return responses(create, func(res *response) {
		if id := member(res.sent, "id"); res.status == 201 && id != "" {
			res.body = []byte(replace(`"id":\d+`, `"id":`+id)(string(res.body)))
		}
	})(next)
}

// sameAgain returns the same pet for equal bodies.
func sameAgain(next http.Handler) http.Handler {
	var seen sync.Map
	return responses(create, func(res *response) {
		if res.status == 201 {
			old, _ := seen.LoadOrStore(string(res.sent), res.body)
			res.body = old.([]byte)
		}
	})(next)
}

// overwrites replaces the pet whose id is in a body.
func overwrites(next http.Handler) http.Handler {
	var changed sync.Map // by path
	keep := responses(create, func(res *response) {
		if id := member(res.sent, "id"); res.status == 201 && id != "" {
			changed.Store("/v1/pets/"+id, res.sent)
		}
	})
	show := responses(fetch, func(res *response) {
		if b, ok := changed.Load(res.request.URL.Path); ok && res.status == 200 {
			res.body = b.([]byte)
		}
	})
	return keep(show(next))
}

// storesLate shows a pet only after a minute.
func storesLate(next http.Handler) http.Handler {
	var made sync.Map // by path
	note := objects(create, 201, func(o object) { made.Store("/v1/pets/"+string(o["id"]), time.Now()) })
	hide := responses(fetch, func(res *response) {
		if at, ok := made.Load(res.request.URL.Path); ok && time.Since(at.(time.Time)) < time.Minute {
			res.status, res.body = 404, []byte(`{"code":"not_found","message":"not yet","status":404}`)
		}
	})
	return note(hide(next))
}

// storesRefused stores the pets that it refuses with a status.
func storesRefused(status int, key string) wrapper {
	return func(next http.Handler) http.Handler {
		return responses(create, func(res *response) {
			if res.status != status || !strings.Contains(string(res.sent), `"name"`) {
				return
			}
			_, after, _ := strings.Cut(string(res.sent), `"conformance-`)
			name, _, ok := strings.Cut(after, `"`)
			if !ok {
				return
			}
			r := res.request.Clone(context.Background())
			b := fmt.Sprintf(`{"name":"conformance-%s","categoryId":1}`, name)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(b)), int64(len(b))
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
			next.ServeHTTP(httptest.NewRecorder(), r)
		})(next)
	}
}

// racing returns a store that fails, or repeats an id, when pets are added
// concurrently.
func racing(fail bool) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service {
		var busy atomic.Int32
		var last atomic.Int64 // ID
		return store{Service: s, create: func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
			busy.Add(1)
			defer busy.Add(-1)
			time.Sleep(5 * time.Millisecond)
			switch {
			case busy.Load() < 3:
				p, err := s.CreatePet(ctx, n, once)
				last.Store(p.ID)
				return p, err
			case fail:
				return petstore.Pet{}, errors.New("the table is locked")
			}
			return petstore.Pet{ID: last.Load(), NewPet: n}, nil
		}}
	}
}
