package httpapi

import (
	"context"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
)

// operation is an operation of the contract, or the one for its OpenAPI document.
type operation struct {
	name    string        // the contract's operation name
	pattern string        // as http.ServeMux would set Request.Pattern
	public  bool          // needs no credential
	header  []headerField // of every response, errors included

	// New takes these from the pattern.
	method string // GET stands for HEAD too
	path   string // if it ends in a slash, one more segment follows: the parameter

	// do carries out the operation. The context has the account.
	do func(*handler, context.Context, *http.Request) (response, error)
}

// headerField is a field of a header. Responses may share its values.
type headerField struct {
	name   string // in canonical form
	values []string
}

var (
	listPets = operation{
		name:    "listPets",
		pattern: "GET /pets",
		do:      (*handler).listPets,
	}

	createPet = operation{
		name:    "createPet",
		pattern: "POST /pets",
		do:      (*handler).createPet,
	}

	// The contract schedules this one for removal (section 4.3), and does not say
	// since when it is deprecated.
	getPet = operation{
		name:    "getPet",
		pattern: "GET /pets/{petId}",
		header: []headerField{
			{"Deprecation", []string{"@1795132800"}},              // 2026-11-20 (RFC 9745)
			{"Sunset", []string{"Thu, 05 Dec 2030 00:00:00 GMT"}}, // RFC 8594
			{"Link", []string{`<../pets>; rel="successor-version"`}},
		},
		do: (*handler).getPet,
	}

	submitMessage = operation{
		name:    "submitMessage",
		pattern: "POST /messages",
		do:      (*handler).submitMessage,
	}

	openAPI = operation{
		name:    "openapi",
		pattern: "GET /openapi.json",
		public:  true,
		do:      (*handler).openAPI,
	}
)

// errNoPath names the path that the handler has seen: it shows a wrong http.StripPrefix.
func errNoPath(path string) error {
	return petstore.Errorf(petstore.CodeNotFound, "path: there is nothing at %.100q; openapi.json, below the base address, has the paths", path)
}

// route returns the operation of the request. With a 405 it sets the Allow field of the
// response.
//
// An http.ServeMux cannot route these: it redirects unclean paths, which loses
// a prefix that http.StripPrefix removed, and its 404 and 405 are plain text.
func (h *handler) route(w http.ResponseWriter, r *http.Request) (*operation, error) {
	u, method, allow := r.URL, r.Method, ""
	if method == http.MethodHead {
		method = http.MethodGet
	}
	// A slash sent as %2F is part of a segment and does not end one; no
	// operation has such a segment. Other escapes mean their character (RFC
	// 3986, section 2.4), as they do in u.Path.
	if strings.Contains(strings.ToUpper(u.RawPath), "%2F") {
		return nil, errNoPath(u.RawPath)
	}
	for i := range h.operations {
		op := &h.operations[i]
		param, ok := strings.CutPrefix(u.Path, op.path)
		hasParam := strings.HasSuffix(op.path, "/")
		if !ok || hasParam == (param == "") || param == "." || param == ".." || strings.Contains(param, "/") {
			continue
		}
		if op.method == method {
			return op, nil
		}
		if allow != "" {
			allow += ", "
		}
		allow += op.method
		if op.method == http.MethodGet {
			allow += ", HEAD"
		}
	}
	if allow == "" {
		return nil, errNoPath(u.Path)
	}
	w.Header().Set("Allow", allow)
	return nil, petstore.Errorf(petstore.CodeMethodNotAllowed, "method: this path has only %s", allow)
}
