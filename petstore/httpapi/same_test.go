package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestSameResponses: requests get the same responses, byte for byte, with and
// without an EncodedReader, under every prefix, and over HTTP/1.1 and HTTP/2. HEAD
// gets what GET does, without the body.
func TestSameResponses(t *testing.T) {
	store := memory.New(nil)
	for _, p := range []petstore.NewPet{
		{Name: "\"\\\x00\u2028<&>é🐕", CategoryID: -1 << 63, Status: petstore.StatusSold},
		{Status: petstore.StatusPending},
		{Name: strings.Repeat("x", 200_000)},
	} {
		if _, err := store.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	overHTTP2 := new(http.Protocols)
	overHTTP2.SetUnencryptedHTTP2(true)
	plain := newHandler(store, testKeys, nil)
	want := responses(t, plain, "", nil)
	for name, got := range map[string]map[string]response{
		"without an EncodedReader": responses(t, newHandler(embeds{store}, testKeys, nil), "", nil),
		"under a prefix":           responses(t, http.StripPrefix("/api/v1", plain), "/api/v1", nil),
		"HTTP/2":                   responses(t, plain, "", overHTTP2),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.3000s", name, diff)
		}
	}
	for request, got := range want {
		if target, ok := strings.CutPrefix(request, "GET "); ok {
			if got.Body == "" {
				t.Errorf("%s: no body", request)
			}
			got.Body = ""
			if diff := cmp.Diff(got, want["HEAD "+target]); diff != "" {
				t.Errorf("%s (-without body +HEAD):\n%.3000s", request, diff)
			}
		}
	}
}

// embeds is a store without an EncodedReader: it has the methods, but Encodes
// returns false.
type embeds struct{ *memory.Store }

// TestNotBypassed: the handler uses the reads of a type that embeds a store.
func TestNotBypassed(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	s.serve(httpapi.New(overrides{s.store}, testKeys, nil))
	s.want(refused(410, "sold out"), get("/pets/1"), get("/pets"))
}

// overrides embeds a store and reads in another way.
type overrides struct{ *memory.Store }

var errSoldOut = petstore.Errorf(petstore.CodeGone, "sold out")

func (overrides) GetPet(context.Context, int64) (petstore.Pet, error) {
	return petstore.Pet{}, errSoldOut
}

func (overrides) ListPets(context.Context, petstore.ListQuery) (petstore.Page, error) {
	return petstore.Page{}, errSoldOut
}

// responses returns the responses of a handler to many requests, by the request.
func responses(t *testing.T, h http.Handler, prefix string, protocols *http.Protocols) map[string]response {
	t.Helper()
	addr := listen(t, h, func(srv *http.Server) { srv.Protocols = protocols })
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	t.Cleanup(client.CloseIdleConnections)
	all := map[string]response{}
	for target := range strings.FieldsSeq(`
		/pets /pets?limit=1 /pets?status=sold&limit=3 /pets?status=available /pets?limit=0 /pets/1 /pets/%31 /pets/3 /pets/99 /pets/x
		/pets/ //pets /pets%2F1 /openapi.json`) {
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			req, err := http.NewRequest(method, "http://"+addr+prefix+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"X-Request-Id": {"the-same"}, "Authorization": {"Bearer key-1"}}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if protocols != nil && resp.ProtoMajor != 2 {
				t.Fatalf("the protocol is %s", resp.Proto)
			}
			resp.Header.Del("Date")
			all[method+" "+target] = readResponse(t, resp)
		}
	}
	return all
}
