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

// descriptionETag changes when the description does, and only then.
var descriptionETag = func() string {
	sum := sha256.Sum256(description)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}()

// OpenAPI returns the description of the interface, an OpenAPI 3.1 document in
// JSON. It is what the handler of [New] serves at /openapi.json, without
// asking for a credential. Its server is relative, so that the document is right
// at every address where it is served beside the operations. The slice is the
// caller's own: a deployment that serves the document or the messages elsewhere
// can put other servers in and serve the result itself.
func OpenAPI() []byte { return bytes.Clone(description) }

// descriptionResource is what serves the description. Unlike the contract's
// operations it asks for no credential: it tells how to come by one.
func descriptionResource() resource {
	return resource{path: "/openapi.json", allow: "GET, HEAD", operations: []operation{
		{name: "openapi", method: http.MethodGet, pattern: "GET /openapi.json", public: true, do: describeAPI},
	}}
}

func describeAPI(x *exchange) error {
	h := x.w.Header()
	h["Etag"] = []string{descriptionETag}
	if matches(x.r.Header["If-None-Match"], descriptionETag) {
		x.status = http.StatusNotModified
		x.w.WriteHeader(x.status)
		return nil
	}
	// Not by way of x.reply, which takes the body over as a buffer.
	x.status = http.StatusOK
	x.bytes = writeJSON(x.w, x.r, x.status, description)
	return nil
}

// matches reports whether an If-None-Match field names etag, or anything, as
// `*` does. Entity tags are compared weakly (RFC 9110, section 13.1.2). A tag
// with a comma in it comes apart here, but none of its parts can be like ours.
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
