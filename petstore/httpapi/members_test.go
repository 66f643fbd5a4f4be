package httpapi_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestDocumentedMembers: the OpenAPI document and the contract have every member of a new pet
// and of a message.
func TestDocumentedMembers(t *testing.T) {
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
	for _, of := range []reflect.Type{reflect.TypeFor[petstore.NewPet](), reflect.TypeFor[petstore.Message]()} {
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if doc.Components.Schemas[of.Name()].Properties[name] == nil {
				t.Errorf("petstore/httpapi/openapi.json: the schema %s has no member %q", of.Name(), name)
			}
			if !strings.Contains(string(contract), "`"+name+"`") {
				t.Errorf("docs/contract.md does not name the member %q of a %s", name, of.Name())
			}
		}
	}
}
