package conformance_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
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

// fromZero makes IDs start at 0.
var fromZero = all(values(`/v1/pets`, 0, "id", func(id string) string {
	n, _ := strconv.ParseInt(id, 10, 64)
	return strconv.FormatInt(n-1, 10)
}), requests(fetch, func(r *http.Request) {
	if n, err := strconv.ParseInt(path.Base(r.URL.Path), 10, 64); err == nil {
		r.URL.Path = fmt.Sprint("/v1/pets/", n+1)
	}
}))

func times(format func(time.Time) string) wrapper {
	return texts(submit, 202, "createdAt", func(string) string { return format(time.Now().UTC()) })
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
			mustCreate(s.DoCreatePet(context.Background(), petstore.NewPet{
				Name: names[i%len(names)], CategoryID: []int64{5, 0, -1 << 63, 1<<63 - 1}[i%4],
				Status: append(petstore.Statuses(), "")[i%4],
			}, petstore.IdempotencyKey{}))
		}
	}
}

// refusesNames refuses a pet whose name another pet has.
func refusesNames(code petstore.Code) func(*store) {
	return func(s *store) {
		create := s.DoCreatePet
		var names sync.Map
		s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			if _, found := names.LoadOrStore(n.Name, true); found {
				return petstore.Pet{}, petstore.Errorf(code, "another pet has the name")
			}
			return create(ctx, n, key)
		}
	}
}

// valid refuses the pets that are not right.
func valid(right func(petstore.NewPet) bool) httpapi.Options {
	return httpapi.Options{Validate: func(_ context.Context, n petstore.NewPet) error {
		if !right(n) {
			return petstore.Errorf(petstore.CodeInvalid, "the pet is not right")
		}
		return nil
	}}
}

// names refuses the names that are not right.
func names(right func(string) bool) httpapi.Options {
	return valid(func(n petstore.NewPet) bool { return right(n.Name) })
}

// only refuses every category except one.
func only(category int64) httpapi.Options {
	return valid(func(n petstore.NewPet) bool { return n.CategoryID == category })
}

// halved is a store whose pages have at most half as many pets as the limit, and link
// to the next page.
func halved(s *store) {
	list := s.DoListPets
	s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
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

// nextPage has another field, or another value of Link, that says how to reach the next
// page.
func nextPage(pattern, name, value string) wrapper {
	return responses(pattern, 200, func(res *response) {
		if res.header.Get("Link") != "" {
			res.header.Del("Link")
			res.header.Set(name, value)
		}
	})
}

// proxied has a proxy in front of it, which responds in HTML to what it does not forward.
var proxied = all(html(`^[A-Z]+ [^ ]*(%|'|\[)`, 400), html(create+`.*aaaaa`, 413), html(`^GET /v1/pets/[^ ?]*[^-0-9 ?]`, 404), where(`^POST .*<script`, firewall))

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

// shared is a store to which another client adds a pet with that name before the tenth of the run.
func shared(name string) func(*store) {
	return func(s *store) {
		create := s.DoCreatePet
		var n atomic.Int64
		s.DoCreatePet = func(ctx context.Context, pet petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			if n.Add(1) == 10 {
				mustCreate(create(ctx, petstore.NewPet{Name: name, CategoryID: 5}, petstore.IdempotencyKey{}))
			}
			return create(ctx, pet, key)
		}
	}
}

// away drops every connection for a while, from the first request that matches a pattern.
func away(pattern string, d time.Duration) wrapper {
	var began sync.Once
	var back time.Time
	var matched atomic.Bool
	re := compile(pattern)
	return when(func(r *http.Request) bool {
		if !matched.Load() && !re.MatchString(r.Method+" "+r.URL.RequestURI()) {
			return false
		}
		matched.Store(true)
		began.Do(func() { back = time.Now().Add(d) })
		return time.Now().Before(back)
	}, drops)
}

// limited returns a hook of a server that closes connections beyond three.
func limited() func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > 3 {
				conn.Close()
			}
		case http.StateClosed:
			open.Add(-1)
		}
	}
}

// crowded responds 429 to the third creation at a time.
func crowded(next http.Handler) http.Handler {
	var active atomic.Int64
	slow := requests(create, func(*http.Request) { time.Sleep(meet) })(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer active.Add(-1)
		if active.Add(1) > 2 {
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		slow.ServeHTTP(w, r)
	})
}

// endsAnywhere is a store whose pages have at least one pet, and link to the next. Pages of
// the same query differ in length. By chance two could be equal, and the suite takes
// equal pages for a limit.
func endsAnywhere(s *store) {
	list := s.DoListPets
	var mu sync.Mutex
	lists := make(map[petstore.ListQuery]int)
	s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		mu.Lock()
		lists[q] += 7
		q.Limit = 1 + lists[q]%q.Limit
		mu.Unlock()
		return list(ctx, q)
	}
}
