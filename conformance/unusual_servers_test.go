package conformance_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// flushed sends every response in chunks.
func flushed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for name, v := range rec.Header() {
			w.Header()[name] = v
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		for piece := range slices.Chunk(rec.Body.Bytes(), 100) {
			w.Write(piece)
			w.(http.Flusher).Flush()
		}
	})
}

// http10 responds with HTTP/1.0: the body ends with the connection.
func http10(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.0 %d Whatever\r\n", rec.Code)
		rec.Header().Del("Content-Length")
		rec.Header().Write(conn)
		fmt.Fprintf(conn, "\r\n%s", rec.Body)
	})
}

func slow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		next.ServeHTTP(w, r)
	})
}

// interrupted refuses the requests whose numbers are picked.
func interrupted(picked func(int64) bool, code int, retryAfter func() string) wrapper {
	var n atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !picked(n.Add(1)) {
				next.ServeHTTP(w, r)
				return
			}
			if retryAfter != nil {
				w.Header().Set("Retry-After", retryAfter())
			}
			http.Error(w, "not now", code)
		})
	}
}

func sometimes(n int64) bool { return n%60 == 7 }
func once(n int64) bool      { return n == 40 }

func inASecond() string {
	return time.Now().Add(1500 * time.Millisecond).UTC().Format(http.TimeFormat)
}

// mappedIDs changes the ids of pets by a function without collisions.
func mappedIDs(to func(int64) int64) wrapper {
	var mu sync.Mutex
	back := map[string]string{}
	out := func(o object) {
		n, _ := strconv.ParseInt(string(o["id"]), 10, 64)
		id := strconv.FormatInt(to(n), 10)
		mu.Lock()
		defer mu.Unlock()
		back[id] = string(o["id"])
		o["id"] = jsontext.Value(id)
	}
	in := requests(fetch, func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id, ok := back[strings.TrimPrefix(r.URL.Path, "/v1/pets/")]
		if !ok {
			id = "0"
		}
		r.URL.Path = "/v1/pets/" + id
	})
	location := responses(create, func(res *response) {
		var o object
		if res.status == 201 {
			mustUnmarshal(res.body, &o)
			res.header.Set("Location", "pets/"+string(o["id"]))
		}
	})
	return func(next http.Handler) http.Handler {
		return in(location(objects(create, 201, out)(objects(list, 200, out)(objects(fetch, 200, out)(next)))))
	}
}

// store is a store with other lists or other creates; nil: as they were.
type store struct {
	petstore.Service
	list   func(context.Context, petstore.ListQuery) (petstore.Page, error)
	create func(context.Context, petstore.NewPet, petstore.Once) (petstore.Pet, error)
}

func (s store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	if s.list == nil {
		return s.Service.ListPets(ctx, q)
	}
	return s.list(ctx, q)
}

func (s store) CreatePet(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if s.create == nil {
		return s.Service.CreatePet(ctx, n, once)
	}
	return s.create(ctx, n, once)
}

// ordered returns a store whose lists have another order.
func ordered(order func([]petstore.Pet)) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service {
		return store{Service: s, list: func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			return listAll(ctx, s, q, func(all []petstore.Pet) []petstore.Pet {
				order(all)
				return all
			})
		}}
	}
}

// thronged returns a store to which other clients add pets before each new pet
// and before each list.
func thronged(creates, lists int) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service {
		var total atomic.Int64
		others := func(ctx context.Context, n int) {
			for range n {
				i := total.Add(1)
				mustCreate(ctx, s, petstore.NewPet{Name: fmt.Sprint("throng ", i), CategoryID: i, Status: append(petstore.Statuses(), "")[i%4]})
			}
		}
		return store{s, func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			others(ctx, lists)
			return s.ListPets(ctx, q)
		}, func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
			others(ctx, creates)
			return s.CreatePet(ctx, n, once)
		}}
	}
}

func mustCreate(ctx context.Context, s petstore.Service, n petstore.NewPet) {
	if _, err := s.CreatePet(ctx, n, petstore.Once{}); err != nil {
		panic(err)
	}
}

// filled adds n pets to a store, some with unusual values.
func filled(n int) func(petstore.Service) petstore.Service {
	return func(s petstore.Service) petstore.Service {
		names := []string{"", "Rex", "a\x00b", strings.Repeat("long ", 100), "<i>&", "🦊", "\u2028", `"`}
		for i := range n {
			mustCreate(context.Background(), s, petstore.NewPet{
				Name: names[i%len(names)], CategoryID: []int64{5, 0, -1 << 63, 1<<63 - 1}[i%4],
				Status: append(petstore.Statuses(), "")[i%4],
			})
		}
		return s
	}
}

// large returns a store with large pets that ends a list after a megabyte.
func large(s petstore.Service) petstore.Service {
	for range 120 {
		mustCreate(context.Background(), s, petstore.NewPet{Name: strings.Repeat("x", 12_000), CategoryID: 5, Status: petstore.StatusPending})
	}
	return store{Service: s, list: func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := s.ListPets(ctx, q)
		size := 0
		for i, pet := range page.Pets {
			if size += len(pet.Name); size > 1<<20 {
				return petstore.Page{Pets: page.Pets[:i+1], Next: petstore.CursorAfter(pet.ID)}, nil
			}
		}
		return page, err
	}}
}

func strictNames(_ context.Context, n petstore.NewPet) error {
	switch {
	case strings.TrimSpace(n.Name) != n.Name || n.Name == "":
		return petstore.Errorf(petstore.CodeInvalid, "name: must not be empty, nor begin or end with a space")
	case len([]rune(n.Name)) > 256:
		return petstore.Errorf(petstore.CodeInvalid, "name: must have at most 256 characters")
	case strings.ContainsFunc(n.Name, unicode.IsControl):
		return petstore.Errorf(petstore.CodeInvalid, "name: must not have control characters")
	}
	return nil
}

func knownCategories(known int64) func(context.Context, petstore.NewPet) error {
	return func(_ context.Context, n petstore.NewPet) error {
		if n.CategoryID != known {
			return petstore.Errorf(petstore.CodeInvalid, "categoryId: there is no such category")
		}
		return nil
	}
}

// uniqueNames refuses a pet whose name another pet has.
func uniqueNames(next http.Handler) http.Handler {
	var seen sync.Map
	return responses(create, func(res *response) {
		if _, found := seen.LoadOrStore(member(res.body, "name"), true); found && res.status == 201 {
			res.status, res.body = 409, []byte(`{"code":"conflict","message":"there is one","status":409}`)
		}
	})(next)
}

// spartan removes what only RFCs require.
func spartan(next http.Handler) http.Handler {
	bare := responses("", func(res *response) {
		for _, name := range []string{"Location", "Allow", "Www-Authenticate", "Sunset", "Deprecation", "Link"} {
			delete(res.header, name)
		}
	})
	return strictScheme(list)(strictScheme(submit)(bare(next)))
}

func times(format func(time.Time) string) wrapper {
	return objects(submit, 202, func(o object) { o["createdAt"] = quoted(format(time.Now().UTC())) })
}
