package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

// replay is a request whose response is an example in the document, and the
// server for it.
type replay struct {
	method, path, query string
	header              http.Header
	body                string

	pets     int    // how many of examplePets the store has
	before   string // the body of an otherwise equal request that is sent first; "": none
	slow     bool   // the body does not arrive in time
	opts     httpapi.Options
	capacity int   // of the queue; 0: the default
	closed   bool  // the store is in a file, and is closed
	late     bool  // the request is sent on 5 December 2030
	fault    error // every call of the store returns it; nil: none
}

var examplePets = []petstore.NewPet{
	{Name: "Bella", CategoryID: 1, Status: petstore.StatusAvailable},
	{Name: "Tom", CategoryID: 2},
	{Name: "Luna", CategoryID: 1, Status: petstore.StatusSold},
}

// baseTargets and baseBodies are the targets and bodies of requests whose examples
// in the document do not have any.
var (
	baseTargets = map[string]string{"listPets": "/pets", "createPet": "/pets", "getPet": "/pets/1", "submitMessage": "/messages"}
	baseBodies  = map[string]string{
		"createPet":     `{"name": "Bella", "categoryId": 1, "status": "available"}`,
		"submitMessage": `{"message": "Hello, pets!"}`,
	}
)

// replays has, for each example of a response, what must be changed in the
// request. "*" stands for every operation with the example.
var replays = map[string]func(*replay){
	"* 401 keyMissing":         func(r *replay) { r.header.Del("Authorization") },
	"* 401 keyUnknown":         func(r *replay) { r.header.Set("Authorization", "Bearer unknown") },
	"* 400 bodyMissing":        func(r *replay) { r.body = "" },
	"* 400 contentTypeMissing": func(r *replay) { r.header.Del("Content-Type") },
	"* 400 badIdempotencyKey":  func(r *replay) { r.header.Set("Idempotency-Key", strings.Repeat("k", 256)) },
	"* 408 slowBody":           func(r *replay) { r.slow = true },
	"* 409 underWay":           func(r *replay) { r.fault = &petstore.Error{Code: petstore.CodeConflict} },
	"* 413 tooLarge":           func(r *replay) { r.body += strings.Repeat(" ", 1<<20) },
	"* 415 plainText":          func(r *replay) { r.header.Set("Content-Type", "text/plain") },
	"* 500 failure":            func(r *replay) { r.fault = errors.New("broken") },
	"* 503 storeClosed":        func(r *replay) { r.closed = true },
	"* 507 full":               func(r *replay) { r.fault = &petstore.Error{Code: petstore.CodeFull} },

	"listPets 400 limitOutOfRange": func(r *replay) { r.query = "limit=101" },
	"listPets 400 unknownStatus":   func(r *replay) { r.query = "status=gone" },
	"listPets 400 unknownCursor":   func(r *replay) { r.query = "cursor=2" },

	"listPets 200 firstPage": func(*replay) {},
	"listPets 200 sold":      func(r *replay) { r.query = "status=sold" },
	"listPets 200 none":      func(r *replay) { r.query = "status=pending" },
	"listPets 200 nextPage":  func(r *replay) { r.query = "limit=2&cursor=AQAAAAAAAAACPG7zcg" },

	"createPet 201 pet":           func(r *replay) { r.pets = 0 },
	"createPet 201 withoutStatus": func(r *replay) { r.pets = 1 },
	"createPet 400 memberMissing": func(r *replay) { r.body = `{"name": "Bella"}` },
	"createPet 400 wrongType":     func(r *replay) { r.body = `{"name": "Bella", "categoryId": "dogs"}` },
	"createPet 400 unknownStatus": func(r *replay) { r.body = `{"name": "Bella", "categoryId": 1, "status": "gone"}` },
	"createPet 422 anotherBody": func(r *replay) {
		r.header.Set("Idempotency-Key", "first")
		r.before = `{"name": "Tom", "categoryId": 2}`
	},

	"getPet 200 pet":          func(*replay) {},
	"getPet 404 noSuchPet":    func(*replay) {},
	"getPet 404 noIdentifier": func(r *replay) { r.path = "/pets/bella" },
	"getPet 410 gone": func(r *replay) {
		r.opts.SunsetGone = true
		r.late = true
	},

	"submitMessage 202 greeting":      func(*replay) {},
	"submitMessage 400 memberMissing": func(r *replay) { r.body = `{}` },
	"submitMessage 422 anotherBody": func(r *replay) {
		r.header.Set("Idempotency-Key", "first")
		r.before = `{"message": "Good morning!"}`
	},
	"submitMessage 503 queueFull": func(r *replay) {
		r.capacity = 1
		r.before = r.body
	},
}

// TestExamples: every response in the document has an example, and every example
// is what the server returns. The document has every error code.
func TestExamples(t *testing.T) {
	j := newJudge(t)
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
	codes := map[any]bool{string(petstore.CodeMethodNotAllowed): true} // the document has this response only in words
	for where, op := range j.operations() {
		for status, response := range op.Responses.Map() {
			examples := response.Value.Content["application/json"].Examples
			if len(examples) == 0 {
				t.Errorf("%s %s has no example", op.OperationID, status)
			}
			for name, example := range examples {
				r := newReplay(t, where, op, name)
				r.header.Set("Authorization", "Bearer "+key)
				id := op.OperationID + " " + status + " " + name
				change := replays[id]
				delete(unused, id)
				if all := "* " + status + " " + name; change == nil {
					change = replays[all]
					delete(unused, all)
				}
				if change == nil {
					t.Errorf("%s: no request has this response", id)
					continue
				}
				change(r)
				t.Run(id, func(t *testing.T) {
					rec := r.send(t, j, auth)
					compareExample(t, response.Value, status, name, example.Value.Value, rec)
					var e struct{ Code string }
					if rec.Code >= 400 && json.Unmarshal(rec.Body.Bytes(), &e) == nil {
						codes[e.Code] = true
					}
				})
			}
		}
	}
	for key := range unused {
		t.Errorf("there is no example %s", key)
	}
	for _, code := range j.doc.Components.Schemas["ErrorCode"].Value.Enum {
		if !codes[code] {
			t.Errorf("no example has the code %s", code)
		}
	}
}

// newReplay returns a request with the document's examples of that name for its
// parameters and body.
func newReplay(t *testing.T, where string, op *openapi3.Operation, name string) *replay {
	t.Helper()
	r := &replay{
		path:   baseTargets[op.OperationID],
		body:   baseBodies[op.OperationID],
		pets:   len(examplePets),
		header: http.Header{"X-Request-Id": {"2f6c1a4e-7d1b-4c0c-9f3e-5b7a0d9e8c11"}},
	}
	r.method, _, _ = strings.Cut(where, " ")
	for _, p := range op.Parameters {
		example := p.Value.Examples[name]
		switch {
		case example == nil:
		case p.Value.In == "path":
			r.path = fmt.Sprint("/pets/", example.Value.Value)
		default:
			r.query = fmt.Sprint(p.Value.Name, "=", example.Value.Value)
		}
	}
	if r.body != "" {
		r.header.Set("Content-Type", "application/json")
		if example := op.RequestBody.Value.Content["application/json"].Examples[name]; example != nil {
			body, err := json.Marshal(example.Value.Value)
			if err != nil {
				t.Fatal(err)
			}
			r.body = string(body)
		}
	}
	return r
}

// send sends the request to a server for it.
func (r *replay) send(t *testing.T, j *judge, auth httpapi.Authenticator) *httptest.ResponseRecorder {
	t.Helper()
	inMemory := memory.New(&memory.Options{
		Now:           func() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 125e6, time.UTC) },
		QueueCapacity: r.capacity,
	})
	for _, p := range examplePets[:r.pets] {
		if _, err := inMemory.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	var pets petstore.Service = inMemory
	r.opts.Messages = inMemory
	if r.fault != nil {
		pets, r.opts.Messages = faulty{r.fault}, faulty{r.fault}
	}
	if r.closed {
		file, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		pets, r.opts.Messages = file, file
	}
	h := httpapi.New(pets, auth, &r.opts)
	perform := func(body string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(r.method, r.path+"?"+r.query, strings.NewReader(body))
		req.Header = r.header
		if r.slow {
			req.Body = io.NopCloser(iotest.ErrReader(os.ErrDeadlineExceeded))
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if _, err := j.check(req, []byte(body), rec); err != nil {
			t.Error(err)
		}
		return rec
	}
	if r.late {
		var rec *httptest.ResponseRecorder
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2030, 12, 5, 0, 0, 0, 0, time.UTC)))
			rec = perform(r.body)
		})
		return rec
	}
	if r.before != "" {
		if rec := perform(r.before); rec.Code >= 300 {
			t.Fatalf("the earlier request was refused: %d %s", rec.Code, rec.Body)
		}
	}
	return perform(r.body)
}

// compareExample compares a response with an example, and its header fields with
// theirs. A field with examples for some responses only is absent from the
// others, unless it is required.
func compareExample(t *testing.T, documented *openapi3.Response, status, name string, example any, got *httptest.ResponseRecorder) {
	t.Helper()
	var body any
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(example, body); diff != "" || strconv.Itoa(got.Code) != status {
		t.Errorf("status %d; body (-want +got):\n%s", got.Code, diff)
	}
	for field, header := range documented.Headers {
		want := header.Value.Example
		if named := header.Value.Examples[name]; named != nil {
			want = named.Value.Value
		}
		switch value, ok := got.Header()[http.CanonicalHeaderKey(field)]; {
		case want == nil && header.Value.Required:
			t.Errorf("%s: no example of a required header field", field)
		case want == nil && ok, want != nil && !slices.Equal(value, []string{fmt.Sprint(want)}):
			t.Errorf("%s: %q, but the example is %v", field, value, want)
		}
	}
}

// faulty is a store whose operations return an error.
type faulty struct{ err error }

func (f faulty) ListPets(context.Context, petstore.ListQuery) (petstore.Page, error) {
	return petstore.Page{}, f.err
}

func (f faulty) CreatePet(context.Context, petstore.NewPet, petstore.Once) (petstore.Pet, error) {
	return petstore.Pet{}, f.err
}

func (f faulty) GetPet(context.Context, int64) (petstore.Pet, error) {
	return petstore.Pet{}, f.err
}

func (f faulty) SubmitMessage(context.Context, string, petstore.Once) (petstore.Message, error) {
	return petstore.Message{}, f.err
}
