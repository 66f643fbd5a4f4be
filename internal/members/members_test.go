package members_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// layer fails unless got, which the layer in a file made of want, is equal.
func layer[T any](t *testing.T, file string, want, got T, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s loses a member: %v (-want +got)\n%s", file, err, diff)
	}
}

// decode decodes JSON by reflection, so it loses no field.
func decode[T any](t *testing.T, body []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v
}

// service records what it receives, and returns message.
type service struct {
	petstore.Service
	created petstore.NewPet
	message petstore.Message
}

func (s *service) CreatePet(_ context.Context, p petstore.NewPet, _ petstore.IdempotencyKey) (petstore.Pet, error) {
	s.created = p
	return petstore.Pet{ID: 1, NewPet: p}, nil
}

func (s *service) SubmitMessage(context.Context, string, petstore.IdempotencyKey) (petstore.Message, error) {
	return s.message, nil
}

// post returns what the handler responds to a POST of body.
func post(s *service, path, body string) []byte {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
	w := httptest.NewRecorder()
	httpapi.New(s, apikey.Static{"k": "anna"}, &httpapi.Options{Messages: s}).ServeHTTP(w, r)
	return w.Body.Bytes()
}

// TestLayers passes a pet and a message with all members through each layer.
func TestLayers(t *testing.T) {
	pet, message := members.Filled[petstore.Pet](), members.Filled[petstore.Message]()
	message.ID = "msg_1"
	petJSON, err := json.Marshal(pet)
	if err != nil {
		t.Fatal(err)
	}
	messageJSON, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}

	b, err := pet.AppendJSON(nil)
	layer(t, "petstore/pet.go", pet, decode[petstore.Pet](t, b), err)

	s := &service{message: message}
	post(s, "/pets", string(petJSON))
	layer(t, "petstore/httpapi/decode.go", pet.NewPet, s.created, nil)
	b = post(s, "/messages", `{"message":"hello"}`)
	layer(t, "petstore/httpapi/message.go", message, decode[petstore.Message](t, b), nil)

	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/messages" {
			_, _ = w.Write(messageJSON)
		} else {
			_, _ = w.Write(petJSON)
		}
	}))
	defer srv.Close()
	c, err := client.New(srv.URL, "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	gotPet, err := c.GetPet(t.Context(), 1)
	layer(t, "petstore/client/decode.go", pet, gotPet, err)
	gotMessage, err := c.SubmitMessage(t.Context(), message.Text, petstore.IdempotencyKey{})
	layer(t, "petstore/client/decode.go", message, gotMessage, err)

	export := fmt.Sprintf("%s\n%s\n{\"end\":{\"pets\":1,\"messages\":1}}\n", petJSON, messageJSON)
	path := filepath.Join(t.TempDir(), "store")
	if _, err = storage.Import(t.Context(), path, strings.NewReader(export)); err != nil {
		t.Fatal(err)
	}
	var exported bytes.Buffer
	if _, err = storage.Export(path, &exported, nil); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(exported.Bytes(), []byte("\n"))
	layer(t, "petstore/storage/internal/lines/parse.go", pet, decode[petstore.Pet](t, lines[0]), nil)
	layer(t, "petstore/storage/internal/lines/parse.go", message, decode[petstore.Message](t, lines[1]), nil)
}

// TestDocuments: the OpenAPI document and the contract have every member.
func TestDocuments(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(httpapi.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	contract, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(schema, name string) {
		if doc.Components.Schemas[schema].Properties[name] == nil {
			t.Errorf("petstore/httpapi/openapi.json: the schema %s has no member %q", schema, name)
		}
		if !strings.Contains(string(contract), "`"+name+"`") {
			t.Errorf("docs/contract.md does not name the member %q of a %s", name, schema)
		}
	}
	for name := range members.Without(petstore.NewPet{}) {
		has("NewPet", name)
	}
	for name := range members.Without(petstore.Message{}) {
		has("Message", name)
	}
}
