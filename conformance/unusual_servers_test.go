package conformance_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// hangsUp closes each connection after the response, which has the protocol version
// proto. With silent, the response has its length and does not say that the connection
// is closed; otherwise the body ends with the connection.
func hangsUp(proto string, silent bool) wrapper {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			io.Copy(io.Discard, r.Body)
			rec.Header().Del("Content-Length")
			if silent && r.Method != http.MethodHead {
				rec.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s %d Any words\r\n", proto, rec.Code)
			rec.Header().Write(&b)
			fmt.Fprintf(&b, "\r\n%s", rec.Body)
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				defer conn.Close()
				io.WriteString(conn, b.String())
			}
		})
	}
}

// bare lacks what only RFCs require.
func bare(res *response) {
	for _, name := range []string{"Location", "Allow", "Www-Authenticate", "Sunset", "Deprecation", "Link"} {
		delete(res.header, name)
	}
}

func times(format func(time.Time) string) wrapper {
	return texts(submit, 202, "createdAt", func(string) string { return format(time.Now().UTC()) })
}

// thronged is a store to which other clients add a pet before each new pet and before
// each list.
func thronged(s *store) {
	create, list := s.create, s.list
	var total atomic.Int64
	another := func(ctx context.Context) {
		i := total.Add(1)
		mustCreate(create(ctx, petstore.NewPet{Name: fmt.Sprint("throng ", i), CategoryID: i, Status: append(petstore.Statuses(), "")[i%4]}, petstore.IdempotencyKey{}))
	}
	s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		another(ctx)
		return list(ctx, q)
	}
	s.create = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		another(ctx)
		return create(ctx, n, key)
	}
}

func mustCreate(_ petstore.Pet, err error) {
	if err != nil {
		panic(err)
	}
}

// filled is a store with n pets, some with unusual values.
func filled(n int) func(*store) {
	return func(s *store) {
		names := []string{"", "Rex", "a\x00b", strings.Repeat("long ", 100), "<i>&", "🦊", "\u2028", `"`}
		for i := range n {
			mustCreate(s.create(context.Background(), petstore.NewPet{
				Name: names[i%len(names)], CategoryID: []int64{5, 0, -1 << 63, 1<<63 - 1}[i%4],
				Status: append(petstore.Statuses(), "")[i%4],
			}, petstore.IdempotencyKey{}))
		}
	}
}

// large is a store with large pets that ends a list after a megabyte.
func large(s *store) {
	pet := petstore.NewPet{Name: strings.Repeat("x", 12_000), CategoryID: 5, Status: petstore.StatusPending}
	for range 120 {
		mustCreate(s.create(context.Background(), pet, petstore.IdempotencyKey{}))
	}
	list := s.list
	s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		page, err := list(ctx, q)
		size := 0
		for i, pet := range page.Pets {
			if size += len(pet.Name); size > 1<<20 {
				return petstore.Page{Pets: page.Pets[:i+1], Next: petstore.CursorAfter(pet.ID)}, nil
			}
		}
		return page, err
	}
}

// refusesNames refuses a pet whose name another pet has.
func refusesNames(code petstore.Code) func(*store) {
	return func(s *store) {
		create := s.create
		var names sync.Map
		s.create = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			if _, found := names.LoadOrStore(n.Name, true); found {
				return petstore.Pet{}, petstore.Errorf(code, "another pet has the name")
			}
			return create(ctx, n, key)
		}
	}
}

// names refuses the names that are not right.
func names(right func(string) bool) httpapi.Options {
	return httpapi.Options{Validate: func(_ context.Context, n petstore.NewPet) error {
		if !right(n.Name) {
			return petstore.Errorf(petstore.CodeInvalid, "name: is not right")
		}
		return nil
	}}
}

// categories refuses the categories that are not known.
func categories(known func(int64) bool) httpapi.Options {
	return httpapi.Options{Validate: func(_ context.Context, n petstore.NewPet) error {
		if !known(n.CategoryID) {
			return petstore.Errorf(petstore.CodeInvalid, "categoryId: there is no such category")
		}
		return nil
	}}
}

// halved is a store whose pages have at most half as many pets as the limit, and link
// to the next page.
func halved(s *store) {
	list := s.list
	s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		q.Limit = (q.Limit + 1) / 2
		return list(ctx, q)
	}
}

// onlyOnce responds 409 to a message whose text it has.
func onlyOnce(next http.Handler) http.Handler {
	var texts sync.Map
	return responses(submit, 202, func(res *response) {
		if _, again := texts.LoadOrStore(res.sent, true); again {
			res.status, res.body = 409, failure(409)
		}
	})(next)
}

// corrected has a clock that is put back by five minutes after half a second.
func corrected(next http.Handler) http.Handler {
	correction := time.Now().Add(500 * time.Millisecond)
	return times(func(t time.Time) string {
		if time.Now().Before(correction) {
			t = t.Add(5 * time.Minute)
		}
		return t.Format(time.RFC3339)
	})(next)
}

// nextPage has another field, or another value of Link, that says how to reach the next
// page.
func nextPage(name, value string) wrapper {
	return responses(list, 200, func(res *response) {
		if res.header.Get("Link") != "" {
			res.header.Del("Link")
			res.header.Set(name, value)
		}
	})
}

// replacing is a store with pets of other clients, which replace one before it is
// fetched.
func replacing(s *store) {
	filled(60)(s)
	others := func(id int64) bool { return id <= 60 }
	var removed sync.Map
	get := s.get
	s.get = func(ctx context.Context, id int64) (petstore.Pet, error) {
		if others(id) {
			removed.Store(id, true)
			return petstore.Pet{}, petstore.Errorf(petstore.CodeNotFound, "the pet was removed")
		}
		return get(ctx, id)
	}
	lists(func(all []petstore.Pet) []petstore.Pet {
		return slices.DeleteFunc(all, func(p petstore.Pet) bool { _, gone := removed.Load(p.ID); return gone })
	})(s)
}

// cached responds with the same list to the same request for a while.
func cached(d time.Duration) wrapper {
	type entry struct {
		at   time.Time
		body string
	}
	var lists sync.Map // by URL
	return responses(list, 200, func(res *response) {
		url := res.request.URL.String()
		if old, ok := lists.Load(url); ok && time.Since(old.(entry).at) < d {
			res.body = old.(entry).body
			return
		}
		lists.Store(url, entry{time.Now(), res.body})
	})
}

// proxied has a proxy in front of it, which responds in HTML to what it does not forward.
func proxied(next http.Handler) http.Handler {
	return all(html(`^[A-Z]+ [^ ]*(%|'|\[)`, 400), html(create+`.*large large`, 413), html(`^GET /v1/pets/[^ ?]*[^-0-9 ?]`, 404))(next)
}

// losesResponses drops the connection of every tenth new pet after it has added it, but
// not twice for the same one.
func losesResponses(next http.Handler) http.Handler {
	var n atomic.Int64
	var lost sync.Map
	return responses(create, 0, func(res *response) {
		if n.Add(1)%10 != 0 {
			return
		}
		if _, again := lost.LoadOrStore(res.sent, true); !again {
			panic(http.ErrAbortHandler)
		}
	})(next)
}
