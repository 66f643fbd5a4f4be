package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

//go:embed openapi.json
var description []byte

// descriptionETag changes when the document does, and only then.
var descriptionETag = func() string {
	sum := sha256.Sum256(description)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}()

// OpenAPI returns the OpenAPI 3.1 document of the interface, in JSON. The handler
// of [New] serves it at /openapi.json to every client, without a key. Its server
// is relative, so the document is right at every address where it is served next
// to the operations. The caller may change the slice: a deployment that serves
// the document or the messages elsewhere can insert other servers and serve the
// result itself.
func OpenAPI() []byte { return bytes.Clone(description) }

// openAPI returns the document. It needs no credential, unlike the contract's
// operations: clients read in the document how to send one.
func (x *exchange) openAPI() (response, error) {
	x.w.Header().Set("ETag", descriptionETag)
	if matches(x.r.Header.Values("If-None-Match"), descriptionETag) {
		return response{status: http.StatusNotModified}, nil
	}
	return response{http.StatusOK, description}, nil
}

// matches reports whether an If-None-Match field names etag or is `*`. Entity
// tags are compared weakly (RFC 9110, section 13.1.2). A tag that contains a
// comma is split here, but none of its parts can equal ours.
func matches(ifNoneMatch []string, etag string) bool {
	for _, field := range ifNoneMatch {
		for tag := range strings.SplitSeq(field, ",") {
			tag = strings.Trim(tag, " \t")
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
