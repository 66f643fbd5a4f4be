package httpapi_test

import (
	"context"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

// TestSameResponses: requests get the same responses, byte for byte, from every
// store, with and without an EncodedReader, under every prefix, and over HTTP/1.1
// and HTTP/2. HEAD gets what GET does, without the body.
func TestSameResponses(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 125e6, time.UTC) }
	inMemory := func() *memory.Store { return memory.New(&memory.Options{Now: now}) }
	inFile, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), &storage.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inFile.Close() })

	// fill adds pets and returns the handler of the store.
	fill := func(s store, encoded petstore.EncodedReader) http.Handler {
		for _, p := range []petstore.NewPet{
			{Name: "\"\\\x00\u2028<&>é🐕", CategoryID: math.MinInt64, Status: petstore.StatusSold},
			{CategoryID: math.MaxInt64, Status: petstore.StatusPending},
			{Name: strings.Repeat("x", 200_000)},
		} {
			for range 7 {
				if _, err := s.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if encoded != nil {
			s = writeOnly{s}
		}
		return newHandler(s, testKeys, &httpapi.Options{Encoded: encoded, MaxBodyBytes: 1000})
	}
	overHTTP2 := new(http.Protocols)
	overHTTP2.SetUnencryptedHTTP2(true)
	encoded := inMemory()
	want := responses(t, fill(inMemory(), nil), "", nil)
	for name, got := range map[string]map[string]response{
		"with an EncodedReader": responses(t, fill(encoded, encoded), "", nil),
		"store in a file":       responses(t, fill(inFile, inFile), "", nil),
		"under a prefix":        responses(t, http.StripPrefix("/api/v1", fill(inMemory(), nil)), "/api/v1", nil),
		"HTTP/2":                responses(t, fill(inMemory(), nil), "", overHTTP2),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.3000s", name, diff)
		}
	}
	for request, got := range want {
		target, isGet := strings.CutPrefix(request, "GET ")
		if !isGet {
			continue
		}
		if got.Body == "" {
			t.Errorf("%s: no body", request)
		}
		got.Body = ""
		if diff := cmp.Diff(got, want["HEAD "+target]); diff != "" {
			t.Errorf("%s (-without body +HEAD):\n%.3000s", request, diff)
		}
	}
}

// writeOnly is a store whose reads must not be used.
type writeOnly struct{ store }

func (writeOnly) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return badPets{}.GetPet(ctx, id)
}

func (writeOnly) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return badPets{}.ListPets(ctx, q)
}

// responses returns the responses of a handler to many requests, by the request.
func responses(t *testing.T, h http.Handler, prefix string, protocols *http.Protocols) map[string]response {
	t.Helper()
	addr := listen(t, h, func(srv *http.Server) { srv.Protocols = protocols })
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	t.Cleanup(client.CloseIdleConnections)
	all := map[string]response{}
	perform := func(method, target, key, body string) {
		req, err := http.NewRequest(method, "http://"+addr+prefix+target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"the-same"}, "Authorization": {"Bearer " + key}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if protocols != nil && resp.ProtoMajor != 2 {
			t.Fatalf("the protocol is %s", resp.Proto)
		}
		resp.Header.Del("Date")
		all[strings.Join([]string{method, target, key, body}, " ")] = readResponse(t, resp)
	}
	for _, key := range []string{"key-1", "nope"} {
		for target := range strings.FieldsSeq(`
			/pets /pets?limit=1 /pets?limit=100 /pets?status=sold /pets?status=sold&limit=3 /pets?status=available
			/pets?cursor=AQAAAAAAAAACPG7zcg /pets?limit=0 /pets?cursor=x /pets?%zz
			/pets/1 /pets/%31 /pets/11 /pets/21 /pets/99 /pets/-1 /pets/x /pets/ /cats //pets /pets%2F1 /openapi.json`) {
			perform("GET", target, key, "")
			perform("HEAD", target, key, "")
		}
		for _, body := range []string{rexBody, "{", "", pad(1000), pad(1001)} {
			perform("POST", "/pets", key, body)
		}
		perform("POST", "/messages", key, messageBody)
		perform("POST", "/pets/1", key, rexBody)
		perform("DELETE", "/pets", key, "")
	}
	return all
}
