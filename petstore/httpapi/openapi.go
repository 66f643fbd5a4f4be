package httpapi

import (
	"bytes"
	_ "embed"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
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
func (c *call) openAPI() (response, error) {
	return response{http.StatusOK, c.h.document}, nil
}

// documentOf returns the OpenAPI document of those operations.
func documentOf(operations []operation) []byte {
	lacks := func(name string) bool {
		return !slices.ContainsFunc(operations, func(op operation) bool { return op.name == name })
	}
	var unused []jsontext.Pointer
	if lacks(listPets.name) {
		unused = append(unused, "/paths/~1pets")
	}
	if lacks(getPet.name) {
		const created = "/paths/~1pets/post/responses/201"
		unused = append(unused, "/paths/~1pets~1{petId}", created+"/headers/Location", created+"/links")
	}
	if lacks(submitMessage.name) {
		unused = append(unused, "/paths/~1messages")
	}
	doc := description
	for len(unused) > 0 {
		doc = without(doc, unused)
		unused = unusedComponents(doc)
	}
	return doc
}

// unusedComponents returns the components that no part of the document refers to.
func unusedComponents(doc []byte) (unused []jsontext.Pointer) {
	var d struct {
		Components map[string]map[string]jsontext.Value `json:"components"`
	}
	_ = json.Unmarshal(doc, &d)
	delete(d.Components, "securitySchemes") // has no references
	for kind, components := range d.Components {
		for name := range components {
			at := jsontext.Pointer("/components").AppendToken(kind).AppendToken(name)
			// References end in a quotation mark, links in Markdown in a parenthesis.
			if !bytes.Contains(doc, []byte("#"+at+`"`)) && !bytes.Contains(doc, []byte("#"+at+")")) {
				unused = append(unused, at)
			}
		}
	}
	return unused
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
