package httpapi

import (
	"bytes"
	"context"
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var description []byte

// OpenAPI returns the OpenAPI 3.1 document of all operations, in JSON. Every handler of this
// package serves it at /openapi.json, to every client, without a key, also if it leaves out
// operations. The document's server is relative, so it is right at every address where it is
// served next to the operations. The caller may change the slice.
func OpenAPI() []byte { return bytes.Clone(description) }

// openAPI returns the document. It needs no credential, unlike the contract's
// operations: clients read in the document how to send one.
func (h *handler) openAPI(context.Context, *http.Request) (response, error) {
	return response{status: http.StatusOK, body: description}, nil
}
