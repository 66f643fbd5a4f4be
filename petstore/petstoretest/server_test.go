package petstoretest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// A server without options accepts its key only, and pets and messages.
func TestPlain(t *testing.T) {
	srv := New(t, nil)
	pet, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.IdempotencyKey{})
	if err != nil || pet.ID != 1 {
		t.Fatal(pet, err)
	}
	if got, err := srv.Client.GetPet(t.Context(), pet.ID); got != pet || err != nil {
		t.Errorf("the server has %+v (%v), want %+v", got, err, pet)
	}
	if _, err := srv.Client.SubmitMessage(t.Context(), "hi", petstore.IdempotencyKey{}); err != nil {
		t.Error(err)
	}
	stranger, err := client.New(srv.URL, "another", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.ListPets(t.Context(), petstore.ListQuery{}); petstore.CodeOf(err) != petstore.CodeUnauthorized {
		t.Errorf("an unknown key: %v", err)
	}
	const want = `requests: 4 (GET /pets: 1, GET /pets/{petId}: 1, POST /messages: 1, POST /pets: 1), of which 3 succeeded
refused: 1 (401: 1)
failures that may be repeated (busy, lost): 0, of which 0 were repeated
different links to a next page: 0, of which 0 were followed`
	if diff := cmp.Diff(want, srv.Summary().String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A handler of one's own can be tested at any prefix.
func TestHandler(t *testing.T) {
	for _, prefix := range []string{"", "/", "/shop", "/shop/v2/"} {
		path := strings.TrimSuffix(prefix, "/")
		mux := http.NewServeMux()
		mux.Handle(path+"/", http.StripPrefix(path, httpapi.New(memory.New(nil), apikey.Static{"secret": "shop"}, nil)))
		srv := New(t, &Options{Handler: mux, HandlerPath: prefix, HandlerKey: "secret"})
		if _, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(srv.URL + "/pets")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized || srv.Key != "secret" {
			t.Errorf("at %q: %s without the key %s", prefix, resp.Status, srv.Key)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	handler := http.NotFoundHandler()
	for want, opts := range map[string]Options{
		`unknown difficulty "hard"; the difficulties are busy, lost, ids,`: {Difficult: &Difficulty{Names: []string{"ids", "hard"}}},
		"a Handler and Difficult":   {Handler: handler, HandlerKey: "k", Difficult: &Difficulty{}},
		"without a Handler":         {HandlerKey: "k"},
		"client: API key: must be":  {Handler: handler},
		"client: base URL: must be": {Handler: handler, HandlerKey: "k", HandlerPath: "v1"},
	} {
		if s, err := start(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("start returned %v, %v; want an error with %q", s, err, want)
		}
	}
}
