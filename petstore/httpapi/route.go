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
	path       string // all of it, or up to its parameter
	hasParam   bool   // one more segment, not empty, follows path
	allow      string // the methods, as in an Allow header field
	operations []operation
}

// operation is one of the contract's.
type operation struct {
	name    string // the contract's operation name
	method  string // GET stands for HEAD too
	pattern string // as http.ServeMux would set Request.Pattern
	public  bool   // needs no credential

	// before, if set, adds the header fields that every response of the
	// operation has, errors included.
	before func(http.Header)

	// do carries out the operation. It may set header fields but sends
	// nothing.
	do func(*exchange) (response, error)
}

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
		rest, ok := strings.CutPrefix(u.Path, res.path)
		switch {
		case !ok:
		case !res.hasParam && rest == "":
			return res, ""
		case res.hasParam && rest != "" && rest != "." && rest != ".." && !strings.Contains(rest, "/"):
			return res, rest
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
		if res.operations[i].method == method {
			return &res.operations[i]
		}
	}
	return nil
}
