package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/petstore"
)

// operation is an operation of the contract, or the one for its OpenAPI document.
type operation struct {
	name    string        // the contract's operation name
	method  string        // GET stands for HEAD too
	path    string        // if it ends in a slash, one more segment follows: the parameter
	pattern string        // as http.ServeMux would set Request.Pattern
	public  bool          // needs no credential
	header  []headerField // of every response, errors included

	// do carries out the operation. It may set header fields but sends
	// nothing.
	do func(*call) (response, error)
}

// headerField is a field of a header. All responses share values.
type headerField struct {
	name   string // in canonical form
	values []string
}

var (
	listPets = operation{name: "listPets", method: "GET", path: "/pets", pattern: "GET /pets", do: (*call).listPets}

	createPet = operation{name: "createPet", method: "POST", path: "/pets", pattern: "POST /pets", do: (*call).createPet}

	// The contract schedules this one for removal (section 4.3), and does not say
	// since when it is deprecated.
	getPet = operation{name: "getPet", method: "GET", path: "/pets/", pattern: "GET /pets/{petId}", do: (*call).getPet, header: []headerField{
		{"Deprecation", []string{"@1795132800"}},              // 2026-11-20 (RFC 9745)
		{"Sunset", []string{"Thu, 05 Dec 2030 00:00:00 GMT"}}, // RFC 8594
		{"Link", []string{`<../pets>; rel="successor-version"`}},
	}}

	submitMessage = operation{name: "submitMessage", method: "POST", path: "/messages", pattern: "POST /messages", do: (*call).submitMessage}

	openAPI = operation{name: "openapi", method: "GET", path: "/openapi.json", pattern: "GET /openapi.json", public: true, do: (*call).openAPI}
)

// route returns the operation of the request, and keeps its parameter in c.
//
// An http.ServeMux cannot route these: it redirects unclean paths, which loses
// a prefix that http.StripPrefix removed, and its 404 and 405 are plain text.
func (c *call) route() (*operation, error) {
	u, method, allow := c.r.URL, c.r.Method, ""
	if method == http.MethodHead {
		method = http.MethodGet
	}
	// A slash sent as %2F is part of a segment and does not end one; no
	// operation has such a segment. Other escapes mean their character (RFC
	// 3986, section 2.4), as they do in u.Path.
	if strings.Contains(strings.ToUpper(u.RawPath), "%2F") {
		return nil, c.h.noPath()
	}
	for i := range c.h.operations {
		op := &c.h.operations[i]
		param, ok := strings.CutPrefix(u.Path, op.path)
		hasParam := strings.HasSuffix(op.path, "/")
		if !ok || hasParam == (param == "") || param == "." || param == ".." || strings.Contains(param, "/") {
			continue
		}
		if op.method == method {
			c.param = param
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
		return nil, c.h.noPath()
	}
	c.w.Header().Set("Allow", allow)
	return nil, petstore.Errorf(petstore.CodeMethodNotAllowed, "method: this path has only %s", allow)
}

// noPath returns the error of a path without an operation. It names those that have one.
func (h *handler) noPath() error {
	var paths []string
	for _, op := range h.operations {
		_, path, _ := strings.Cut(op.pattern, " ")
		paths = append(paths, path)
	}
	return petstore.Errorf(petstore.CodeNotFound, "path: there is nothing here; below the base address are %s", strings.Join(slices.Compact(paths), ", "))
}
