package httpapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/storagetest"
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
	for schema, sample := range map[string]any{"NewPet": storagetest.SamplePet().NewPet, "Message": storagetest.SampleMessage()} {
		b, err := json.Marshal(sample)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(b, &members); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			if doc.Components.Schemas[schema].Properties[name] == nil {
				t.Errorf("petstore/httpapi/openapi.json: the schema %s has no member %q", schema, name)
			}
			if !strings.Contains(string(contract), "`"+name+"`") {
				t.Errorf("docs/contract.md does not name the member %q of a %s", name, schema)
			}
		}
	}
}
