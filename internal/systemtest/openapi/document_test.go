package openapi

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestDocument: the document has the contract's operations and the model's
// values, in forms that tools understand.
func TestDocument(t *testing.T) {
	j := newJudge(t)
	doc := j.doc
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	got := map[string]string{}
	for where, op := range j.operations() {
		got[where] = op.OperationID + " " + strings.Join(op.Tags, ",")
		if op.Security != nil {
			t.Errorf("%s has security of its own", where)
		}
		if op.Deprecated != (where == "GET /pets/{petId}") {
			t.Errorf("%s: deprecated is %t", where, op.Deprecated)
		}
		checkParameters(t, where, op)
	}
	if diff := cmp.Diff(map[string]string{
		"GET /pets":         "listPets animals",
		"POST /pets":        "createPet animals",
		"GET /pets/{petId}": "getPet animals",
		"POST /messages":    "submitMessage messages",
	}, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(openapi3.SecurityRequirements{{"bearerAuth": {}}}, doc.Security); diff != "" {
		t.Errorf("security (-want +got):\n%s", diff)
	}
	created := doc.Paths.Value("/pets").Post.Responses.Status(201).Value
	if l := created.Links["getPet"]; len(created.Links) != 1 || l.Value.OperationID != "getPet" ||
		!cmp.Equal(l.Value.Parameters, map[string]any{"petId": "$response.body#/id"}) {
		t.Errorf("links of createPet: %+v", created.Links)
	}
	limit := doc.Paths.Value("/pets").Get.Parameters.GetByInAndName("query", "limit").Schema.Value
	if *limit.Min != petstore.MinLimit || *limit.Max != petstore.MaxLimit || limit.Default != float64(petstore.DefaultLimit) {
		t.Errorf("limit: %+v", limit)
	}
	if want, got := fmt.Sprint(petstore.Statuses()), fmt.Sprint(doc.Components.Schemas["PetStatus"].Value.Enum); want != got {
		t.Errorf("PetStatus: %s, want %s", got, want)
	}
	for name := range doc.Components.Headers {
		if exactFields[name] == "" {
			t.Errorf("the header field %s: what this handler sends is not in exactFields", name)
		}
	}
	// Tools with floating-point numbers read larger ones wrong.
	for _, number := range regexp.MustCompile(`[:\[,] *-?[0-9]{10,}`).FindAllString(string(httpapi.OpenAPI()), -1) {
		t.Errorf("some tools lose the last digits of so large a number: %s", number)
	}
}

// checkParameters checks the parameters and examples of an operation's requests.
func checkParameters(t *testing.T, where string, op *openapi3.Operation) {
	t.Helper()
	var named []openapi3.Examples
	for _, p := range op.Parameters {
		name := p.Value.Name
		named = append(named, p.Value.Examples)
		if slices.Contains([]string{"cursor", "Idempotency-Key", "X-Request-ID"}, name) && p.Value.Schema.Value.Pattern == "" {
			t.Errorf("%s: %s has no pattern", where, name)
		}
		if name != "limit" && name != "petId" && (p.Value.Example != nil || p.Value.Examples != nil) {
			t.Errorf("%s: %s has an example, which viewers would send with every request", where, name)
		}
	}
	if op.RequestBody != nil {
		named = append(named, op.RequestBody.Value.Content["application/json"].Examples)
	}
	for _, examples := range named {
		for name := range examples {
			found := false
			for _, response := range op.Responses.Map() {
				found = found || response.Value.Content["application/json"].Examples[name] != nil
			}
			if !found {
				t.Errorf("%s: no response to the request example %s", where, name)
			}
		}
	}
}

// TestServerAddress: the server in the document is right wherever a server
// returns the document.
func TestServerAddress(t *testing.T) {
	doc := newJudge(t).doc
	if len(doc.Servers) != 1 || doc.Paths.Value("/messages").Servers != nil {
		t.Fatalf("servers: %+v; want one for all", doc.Servers)
	}
	for _, base := range []string{
		"http://127.0.0.1:8080/v1", "https://pets.example/api/v3", "http://[::1]:99", "https://pets.example/a%2Fb/c",
	} {
		u, err := url.Parse(base + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		server, err := u.Parse(doc.Servers[0].URL)
		if err != nil || server.JoinPath("pets").String() != base+"/pets" {
			t.Errorf("below %s, the server is %v, %v", base, server, err)
		}
	}
}
