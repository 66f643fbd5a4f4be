package httpapi

import (
	"bytes"
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var description []byte

// OpenAPI returns the OpenAPI 3.1 document of the interface, in JSON. The handler
// of [New] serves it at /openapi.json to every client, without a key. Its server
// is relative, so the document is right at every address where it is served next
// to the operations. The caller may change the slice: a deployment that serves
// the document or the messages elsewhere can insert other servers and serve the
// result itself.
func OpenAPI() []byte { return bytes.Clone(description) }

// openAPI returns the document. It needs no credential, unlike the contract's
// operations: clients read in the document how to send one.
func (c *call) openAPI() (response, error) {
	return response{http.StatusOK, description}, nil
}
