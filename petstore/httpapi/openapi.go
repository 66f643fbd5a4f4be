package httpapi

import (
	"bytes"
	"context"
	_ "embed"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

//go:embed openapi.json
var description []byte

// OpenAPI returns the OpenAPI 3.1 document of all operations, in JSON. The handlers of this
// package serve what it says of their own operations, at /openapi.json, to every client,
// without a key. The document's server is relative, so it is right at every address where
// it is served next to the operations. The caller may change the slice.
func OpenAPI() []byte { return bytes.Clone(description) }

// openAPI returns the document. It needs no credential, unlike the contract's
// operations: clients read in the document how to send one.
func (h *handler) openAPI(context.Context, *http.Request) (response, error) {
	return response{status: http.StatusOK, body: h.document}, nil
}

// onlyOf has the members of the document that are left out where an operation is not served.
// No other operation that is served there needs them. createPet is where listPets is.
var onlyOf = map[string][]jsontext.Pointer{
	listPets.name: {
		"/paths/~1pets",
		"/components/headers/NextLink", "/components/responses/Unavailable",
		"/components/schemas/Pets", "/components/schemas/Pet", "/components/schemas/NewPet", "/components/schemas/PetStatus",
	},
	getPet.name: {
		"/paths/~1pets~1{petId}",
		"/paths/~1pets/post/responses/201/links",
		"/paths/~1pets/post/responses/201/headers/Location",
		"/components/headers/Location", "/components/headers/SuccessorLink",
		"/components/headers/Deprecation", "/components/headers/Sunset",
	},
	submitMessage.name: {
		"/paths/~1messages",
		"/components/schemas/NewMessage", "/components/schemas/Message",
	},
}

// documentOf returns the OpenAPI document of those operations.
func documentOf(operations []operation) []byte {
	var others []jsontext.Pointer
	for name, members := range onlyOf {
		if !slices.ContainsFunc(operations, func(op operation) bool { return op.name == name }) {
			others = append(others, members...)
		}
	}
	if others == nil {
		return description
	}
	return without(description, others)
}

// without returns a JSON document without those members.
func without(doc []byte, members []jsontext.Pointer) []byte {
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(doc)), jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	for {
		token, err := from.ReadToken()
		if err != nil { // it is the end: the document is valid
			return out.Bytes()
		}
		kind, n := from.StackIndex(from.StackDepth())
		if isName := kind == '{' && n%2 == 1; isName && slices.Contains(members, from.StackPointer()) {
			_ = from.SkipValue()
			continue
		}
		_ = to.WriteToken(token)
	}
}
