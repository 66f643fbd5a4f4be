package httpapi_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// spy is an EncodedReader that counts its calls.
type spy struct {
	petstore.EncodedReader
	calls recorder[string]
}

func (s *spy) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	s.calls.add("AppendPet for " + httpapi.Principal(ctx))
	return s.EncodedReader.AppendPet(ctx, dst, id)
}

func (s *spy) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	s.calls.add("AppendPage for " + httpapi.Principal(ctx))
	return s.EncodedReader.AppendPage(ctx, dst, q)
}

// TestEncoded: with and without an EncodedReader the responses are the same, byte
// for byte.
func TestEncoded(t *testing.T) {
	store := memory.New(nil)
	for _, p := range []petstore.NewPet{
		{Name: "rex", CategoryID: 1},
		{Name: "\"\\\x00\u2028<&>é🐕", CategoryID: math.MinInt64, Status: petstore.StatusSold},
		{Name: "", CategoryID: math.MaxInt64, Status: petstore.StatusPending},
		{Name: strings.Repeat("x", 200_000), Status: petstore.StatusAvailable},
	} {
		for range 10 {
			if _, err := store.CreatePet(context.Background(), p, petstore.Once{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	reader := &spy{EncodedReader: store}
	plain := listen(t, httpapi.New(store, testKeys, nil))
	encoded := listen(t, httpapi.New(store, testKeys, &httpapi.Options{Encoded: reader}))
	for target, call := range map[string]string{
		"/pets":                        "AppendPage for alice",
		"/pets?limit=1":                "AppendPage for alice",
		"/pets?limit=100":              "AppendPage for alice",
		"/pets?status=sold":            "AppendPage for alice",
		"/pets?status=sold&limit=3":    "AppendPage for alice",
		"/pets?cursor=AQAAAAAAAAAoaaa": "AppendPage for alice",
		"/pets?limit=0":                "",
		"/pets/1":                      "AppendPet for alice",
		"/pets/11":                     "AppendPet for alice",
		"/pets/35":                     "AppendPet for alice",
		"/pets/99":                     "AppendPet for alice",
		"/pets/-1":                     "AppendPet for alice",
		"/pets/x":                      "",
	} {
		for _, method := range []string{"GET ", "HEAD "} {
			raw := request(method+target, authorized, "X-Request-ID: the-same")
			a, b := send(t, plain, raw), send(t, encoded, raw)
			a.header.Del("Date")
			b.header.Del("Date")
			if diff := cmp.Diff(a, b, cmp.AllowUnexported(response{})); diff != "" {
				t.Errorf("%s (-plain +encoded):\n%.1000s", target, diff)
			}
			if got := strings.Join(reader.calls.take(), ", "); got != call {
				t.Errorf("%s: called %q, want %q", target, got, call)
			}
		}
	}
}

// filter is a store that overrides one method.
type filter struct{ *memory.Store }

func (filter) GetPet(context.Context, int64) (petstore.Pet, error) {
	return petstore.Pet{}, petstore.ErrNoPet
}

// TestNoShortcut: a Service that embeds a store and overrides one method is not
// bypassed by the store's EncodedReader.
func TestNoShortcut(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	addr := listen(t, httpapi.New(filter{s.store}, testKeys, nil))
	if err := send(t, addr, get("/pets/1")).check(want{status: 404, code: "not_found"}); err != nil {
		t.Error(err)
	}
}

// badPets is a Service that returns invalid pets.
type badPets struct{ *memory.Store }

var badPet = petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "\xff", Status: "eaten"}}

func (badPets) GetPet(context.Context, int64) (petstore.Pet, error) { return badPet, nil }

func (badPets) CreatePet(context.Context, petstore.NewPet, petstore.Once) (petstore.Pet, error) {
	return badPet, nil
}

func (badPets) ListPets(context.Context, petstore.ListQuery) (petstore.Page, error) {
	return petstore.Page{Pets: []petstore.Pet{badPet}, Next: "x"}, nil
}

// brokenReader is an EncodedReader that fails after it has appended.
type brokenReader struct{}

func (brokenReader) AppendPet(_ context.Context, dst []byte, _ int64) ([]byte, error) {
	return append(dst, `{"id":`...), errors.New("secret")
}

func (brokenReader) AppendPage(_ context.Context, dst []byte, _ petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	return append(dst, `[{"id":`...), "x", errors.New("secret")
}

// TestBadResults: an invalid result of the service is a 500, and no part of it is
// sent.
func TestBadResults(t *testing.T) {
	internal := want{status: 500, code: "internal", says: "internal error", header: map[string]string{"Location": ""}}
	store := badPets{memory.New(nil)}
	s := &server{t, store.Store, listen(t, httpapi.New(store, testKeys, nil))}
	s.run([]rawCase{
		{"list", get("/pets"), internal},
		{"get", get("/pets/1"), internal},
		{"create", post("/pets", rexBody), internal},
	})
	s.addr = listen(t, httpapi.New(s.store, testKeys, &httpapi.Options{Encoded: brokenReader{}}))
	s.run([]rawCase{
		{"encoded list", get("/pets"), want{status: 500, code: "internal", header: map[string]string{"Link": ""}}},
		{"encoded get", get("/pets/1"), internal},
	})
	s.addr = listen(t, httpapi.NewMessages(fixedQueue{Text: "\xff"}, testKeys, nil))
	s.run([]rawCase{
		{"message", post("/messages", `{"message":"m"}`), internal},
	})
}

// TestForeignCursor: a service's cursor may be any text, and the link contains all
// of it.
func TestForeignCursor(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked recorder[petstore.Cursor]
	addr := listen(t, httpapi.New(foreign{cursor: cursor, asked: &asked}, testKeys, nil))
	a := send(t, addr, get("/pets?limit=3"))
	link := a.header.Get("Link")
	target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok || strings.ContainsAny(target, "<> \"") {
		t.Fatalf("Link: %s", link)
	}
	if err := send(t, addr, get("/pets"+target)).check(want200); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]petstore.Cursor{"", cursor}, asked.take()); diff != "" {
		t.Errorf("cursors asked for (-want +got):\n%s", diff)
	}
}

type foreign struct {
	badPets
	cursor petstore.Cursor
	asked  *recorder[petstore.Cursor]
}

func (f foreign) ListPets(_ context.Context, q petstore.ListQuery) (petstore.Page, error) {
	f.asked.add(q.After)
	return petstore.Page{Next: f.cursor}, nil
}
