package openapi

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
)

// load returns the whole document. The validator accepts it and its examples.
func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations returns the operations in a document by method and path.
func operations(doc *openapi3.T) map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = op
		}
	}
	return all
}

// TestDocument: the document has the contract's operations, in forms that tools understand.
func TestDocument(t *testing.T) {
	doc := load(t)
	got := map[string]string{}
	for where, op := range operations(doc) {
		got[where] = fmt.Sprint(op.OperationID, op.Tags)
		if op.Responses.Default() == nil {
			t.Errorf("%s has no response for the statuses of other servers", where)
		}
		for status, response := range op.Responses.Map() {
			if _, err := strconv.Atoi(status); err == nil && len(response.Value.Content["application/json"].Examples) == 0 {
				t.Errorf("%s: status %s has no example", where, status)
			}
		}
	}
	if diff := cmp.Diff(map[string]string{
		"GET /pets":         "listPets[animals]",
		"POST /pets":        "createPet[animals]",
		"GET /pets/{petId}": "getPet[animals]",
		"POST /messages":    "submitMessage[messages]",
	}, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(openapi3.SecurityRequirements{{"bearerAuth": {}}}, doc.Security); diff != "" {
		t.Errorf("security (-want +got):\n%s", diff)
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "." { // right below any base path
		t.Errorf("servers: %+v", doc.Servers)
	}
	// Tools with floating-point numbers read larger ones wrong.
	for _, number := range regexp.MustCompile(`[:\[,] *-?[0-9]{10,}`).FindAllString(string(httpapi.OpenAPI()), -1) {
		t.Errorf("some tools lose the last digits of so large a number: %s", number)
	}
}
