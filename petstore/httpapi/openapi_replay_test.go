package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

// replay is a request, whose response is an example in the document, and the
// server for it. It is made of the examples of that name for the parameters and
// the body. What has none, except in the query, gets the example base.
type replay struct {
	method, path, query string
	fields              map[string]string
	body                string

	pets   int    // how many of examplePets there are
	before string // the body of an earlier request, which is otherwise the same
	slow   bool   // the body stops half-way

	opts     httpapi.Options
	capacity int   // of the queue; 0: the default
	closed   bool  // the store is closed
	fault    error // every call of the store returns it
}

var examplePets = []petstore.NewPet{
	{Name: "Bella", CategoryID: 1, Status: petstore.StatusAvailable},
	{Name: "Tom", CategoryID: 2},
	{Name: "Luna", CategoryID: 1, Status: petstore.StatusSold},
}

// replays has, for each example of a response, what must be changed in the
// request. "*" stands for every operation with the example.
var replays = map[string]func(*replay){
	"* 401 keyMissing":         func(r *replay) { delete(r.fields, "Authorization") },
	"* 401 keyUnknown":         func(r *replay) { r.fields["Authorization"] = "Bearer unknown" },
	"* 400 bodyMissing":        func(r *replay) { r.body = "" },
	"* 400 contentTypeMissing": func(r *replay) { delete(r.fields, "Content-Type") },
	"* 400 badIdempotencyKey":  func(r *replay) { r.fields["Idempotency-Key"] = strings.Repeat("k", 256) },
	"* 408 slowBody":           func(r *replay) { r.slow = true },
	"* 409 underWay":           func(r *replay) { r.fault = &petstore.Error{Code: petstore.CodeConflict} },
	"* 413 tooLarge":           func(r *replay) { r.body += strings.Repeat(" ", 1<<20+1-len(r.body)) },
	"* 415 plainText":          func(r *replay) { r.fields["Content-Type"] = "text/plain" },
	"* 500 failure":            func(r *replay) { r.fault = errors.New("broken") },
	"* 503 storeClosed":        func(r *replay) { r.closed = true },
	"* 507 full":               func(r *replay) { r.fault = &petstore.Error{Code: petstore.CodeFull} },

	"listPets 400 limitOutOfRange": func(r *replay) { r.query = "limit=101" },
	"listPets 400 unknownStatus":   func(r *replay) { r.query = "status=gone" },
	"listPets 400 unknownCursor":   func(r *replay) { r.query = "cursor=2" },

	"listPets 200 sold":     func(r *replay) { r.query = "status=sold" },
	"listPets 200 none":     func(r *replay) { r.query = "status=pending" },
	"listPets 200 nextPage": func(r *replay) { r.query = "limit=2&cursor=AQAAAAAAAAACPG7zcg" },

	"createPet 201 pet":           func(r *replay) { r.pets = 0 },
	"createPet 201 withoutStatus": func(r *replay) { r.pets = 1 },
	"createPet 400 memberMissing": func(r *replay) { r.body = `{"name": "Bella"}` },
	"createPet 400 wrongType":     func(r *replay) { r.body = `{"name": "Bella", "categoryId": "dogs"}` },
	"createPet 400 unknownStatus": func(r *replay) { r.body = `{"name": "Bella", "categoryId": 1, "status": "gone"}` },
	"createPet 422 anotherBody": func(r *replay) {
		r.fields["Idempotency-Key"] = "first"
		r.before = `{"name": "Tom", "categoryId": 2}`
	},

	"getPet 404 noIdentifier": func(r *replay) { r.path = "/pets/bella" },
	"getPet 410 gone": func(r *replay) {
		r.opts.SunsetGone = true
		r.opts.Now = func() time.Time { return time.Date(2030, 12, 5, 0, 0, 0, 0, time.UTC) }
	},

	"submitMessage 400 memberMissing": func(r *replay) { r.body = `{}` },
	"submitMessage 422 anotherBody": func(r *replay) {
		r.fields["Idempotency-Key"] = "first"
		r.before = `{"message": "Good morning!"}`
	},
	"submitMessage 503 queueFull": func(r *replay) {
		r.capacity = 1
		r.before = r.body
	},
}

// send sends the request to a server for it.
func (r *replay) send(t *testing.T) response {
	key, auth := exampleKeys(t)
	if value, ok := r.fields["Authorization"]; ok {
		r.fields["Authorization"] = strings.Replace(value, "<API_KEY>", key, 1)
	}
	h := newHandler(r.store(t), auth, &r.opts)
	addr := listen(t, h, func(srv *http.Server) {
		if r.slow {
			srv.ReadTimeout = 500 * time.Millisecond
		}
	})
	if r.before != "" {
		if a := send(t, addr, r.raw(r.before)); a.status >= 300 {
			t.Fatalf("the earlier request was refused: %+v", a)
		}
	}
	raw := r.raw(r.body)
	if r.slow {
		raw = raw[:len(raw)-len(r.body)/2]
	}
	return send(t, addr, raw)
}

func (r *replay) raw(body string) string {
	line := r.method + " " + r.path
	if r.query != "" {
		line += "?" + r.query
	}
	fields := []string{"Content-Length: " + strconv.Itoa(len(body))}
	for name, value := range r.fields {
		fields = append(fields, name+": "+value)
	}
	return request(line, fields...) + body
}

// store opens a store in a file, as the reference server does, or returns a
// faulty one.
func (r *replay) store(t *testing.T) store {
	if r.fault != nil {
		return faulty{memory.New(nil), func(context.Context) error { return r.fault }}
	}
	s, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), &storage.Options{
		Now:           func() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 125e6, time.UTC) },
		QueueCapacity: r.capacity,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, p := range examplePets[:r.pets] {
		if _, err := s.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	if r.closed {
		_ = s.Close()
	}
	return s
}

// exampleKeys creates a key file with one key.
func exampleKeys(t *testing.T) (string, *apikey.File) {
	path := filepath.Join(t.TempDir(), "pets.keys")
	key, _, err := apikey.Create(path, "alice", 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := apikey.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return key, f
}
