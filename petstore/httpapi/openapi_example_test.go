package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	closed   bool  // the store is one in a file that is closed
	fault    error // every call of the store returns it; nil: none
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

// TestExamples: every response has an example, and every example is what the
// server returns, byte for byte.
func TestExamples(t *testing.T) {
	doc := ourDocument(t)
	path := filepath.Join(t.TempDir(), "pets.keys")
	key, _, err := apikey.Create(path, "alice", 0)
	if err != nil {
		t.Fatal(err)
	}
	auth, err := apikey.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer auth.Close()

	unused := maps.Clone(replays)
	for where, op := range doc.operations() {
		requests := doc.requestExamples(op)
		for status, response := range op.Responses {
			response = doc.deref(response)
			examples := response.Content["application/json"].Examples
			if len(examples) == 0 {
				t.Errorf("%s %s has no example", op.OperationID, status)
			}
			for name, example := range examples {
				r := newReplay(t, doc, where, op, name)
				r.fields["Authorization"] = "Bearer " + key
				for _, key := range []string{"* " + status + " " + name, op.OperationID + " " + status + " " + name} {
					if change, ok := replays[key]; ok {
						change(r)
						delete(unused, key)
						requests[name] = true
					}
				}
				if !requests[name] {
					t.Errorf("%s %s %s: no request has this response", op.OperationID, status, name)
					continue
				}
				delete(requests, name)
				value := doc.deref(example).Value
				t.Run(strings.Join([]string{op.OperationID, status, name}, " "), func(t *testing.T) {
					doc.compareExample(t, response, status, name, value, r.send(t, auth))
				})
			}
		}
		for name := range requests {
			t.Errorf("%s: no response to the request example %s", op.OperationID, name)
		}
	}
	for key := range unused {
		t.Errorf("there is no example %s", key)
	}
}

// requestExamples returns the names of an operation's own request examples.
// Those of parameters in components may be another operation's.
func (d *document) requestExamples(op object) map[string]bool {
	names := map[string]bool{}
	for _, o := range append(slices.Clone(op.Parameters), op.RequestBody.Content["application/json"]) {
		for name := range o.Examples {
			names[name] = true
		}
	}
	return names
}

// newReplay returns the request for the examples of that name.
func newReplay(t *testing.T, doc *document, where string, op object, name string) *replay {
	base := "pet" // the examples that stand in for missing ones
	if op.OperationID == "submitMessage" {
		base = "greeting"
	}
	method, path, _ := strings.Cut(where, " ")
	r := &replay{method: method, path: path, pets: len(examplePets), fields: map[string]string{
		"X-Request-ID": "2f6c1a4e-7d1b-4c0c-9f3e-5b7a0d9e8c11",
	}}
	query := url.Values{}
	for _, p := range op.Parameters {
		p = doc.deref(p)
		value := doc.example(t, p, name)
		if value == "" && p.In != "query" {
			value = doc.example(t, p, base)
		}
		switch {
		case value == "":
		case p.In == "query":
			query.Set(p.Name, value)
		case p.In == "path":
			r.path = strings.Replace(r.path, "{"+p.Name+"}", value, 1)
		default:
			r.fields[p.Name] = value
		}
	}
	r.query = query.Encode()
	if bodies := op.RequestBody.Content["application/json"].Examples; len(bodies) > 0 {
		body, ok := bodies[name]
		if !ok {
			body = bodies[base]
		}
		r.body = string(doc.deref(body).Value)
		r.fields["Content-Type"] = "application/json"
	}
	return r
}

// send sends the request to a server for it.
func (r *replay) send(t *testing.T, auth httpapi.Authenticator) response {
	inMemory := memory.New(&memory.Options{
		Now:           func() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 125e6, time.UTC) },
		QueueCapacity: r.capacity,
	})
	for _, p := range examplePets[:r.pets] {
		if _, err := inMemory.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	var s store = inMemory
	if r.fault != nil {
		s = faulty{inMemory, func(context.Context) error { return r.fault }}
	}
	if r.closed {
		file, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		s = file
	}
	addr := listen(t, newHandler(s, auth, &r.opts), func(srv *http.Server) {
		if r.slow {
			srv.ReadTimeout = 300 * time.Millisecond
		}
	})
	if r.before != "" {
		if a := send(t, addr, r.raw(r.before)); a.Status >= 300 {
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

// compareExample compares a response with an example, and its header fields with
// theirs. A field with examples for some responses only is absent from the
// others, unless it is required.
func (d *document) compareExample(t *testing.T, documented object, status, name string, value json.RawMessage, got response) {
	t.Helper()
	var body bytes.Buffer
	if err := json.Compact(&body, value); err != nil {
		t.Fatal(err)
	}
	if strconv.Itoa(got.Status) != status || got.Body != body.String() {
		t.Errorf("status %d; body (-want +got):\n%s", got.Status, cmp.Diff(body.String(), got.Body))
	}
	for field, header := range documented.Headers {
		header = d.deref(header)
		want := d.example(t, header, name)
		if want == "" && header.Required == true {
			t.Errorf("%s: no example of a required header field", field)
		}
		if value := got.Header.Get(field); value != want {
			t.Errorf("%s: %q, but the example is %q", field, value, want)
		}
	}
}
