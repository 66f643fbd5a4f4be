package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// resource is a path and its operations.
//
// An http.ServeMux cannot route these: it redirects unclean paths, which loses
// a prefix that http.StripPrefix removed, and its 404 and 405 are plain text.
type resource struct {
	path       string // if it ends in a slash, one more segment follows: the parameter
	allow      string // the methods, as in an Allow header field
	operations []operation
}

// operation is an operation of the contract, or the one for its OpenAPI document.
type operation struct {
	name       string // the contract's operation name
	pattern    string // as http.ServeMux would set Request.Pattern; GET stands for HEAD too
	public     bool   // needs no credential
	deprecated bool   // every response says so, errors included

	// do carries out the operation. It may set header fields but sends
	// nothing.
	do func(*exchange) (response, error)
}

var (
	petsResource = resource{"/pets", "GET, HEAD, POST", []operation{
		{name: "listPets", pattern: "GET /pets", do: (*exchange).listPets},
		{name: "createPet", pattern: "POST /pets", do: (*exchange).createPet},
	}}
	petResource = resource{"/pets/", "GET, HEAD", []operation{
		{name: "getPet", pattern: "GET /pets/{petId}", deprecated: true, do: (*exchange).getPet},
	}}
	messagesResource = resource{"/messages", "POST", []operation{
		{name: "submitMessage", pattern: "POST /messages", do: (*exchange).submitMessage},
	}}
	openAPIResource = resource{"/openapi.json", "GET, HEAD", []operation{
		{name: "openapi", pattern: "GET /openapi.json", public: true, do: (*exchange).openAPI},
	}}
)

// match returns the resource at u and its parameter, or nil.
func (h *handler) match(u *url.URL) (*resource, string) {
	// A slash sent as %2F is part of a segment and does not end one; no
	// resource has such a segment. Other escapes mean their character (RFC
	// 3986, section 2.4), as they do in u.Path.
	if u.RawPath != "" && strings.Contains(strings.ToUpper(u.EscapedPath()), "%2F") {
		return nil, ""
	}
	for i := range h.resources {
		res := &h.resources[i]
		param, ok := strings.CutPrefix(u.Path, res.path)
		hasParam := strings.HasSuffix(res.path, "/")
		if ok && hasParam == (param != "") && param != "." && param != ".." && !strings.Contains(param, "/") {
			return res, param
		}
	}
	return nil, ""
}

// operation returns the one with that method, or nil.
func (res *resource) operation(method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range res.operations {
		if m, _, _ := strings.Cut(res.operations[i].pattern, " "); m == method {
			return &res.operations[i]
		}
	}
	return nil
}
