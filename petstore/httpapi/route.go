package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// resource is a path and what can be done with it.
//
// Routing is done by hand, since an http.ServeMux redirects unclean paths,
// which loses a prefix taken off in front of it, and answers 404 and 405 in
// plain text.
type resource struct {
	path       string // all of it, or up to its parameter
	hasParam   bool   // one more segment, not empty, follows path
	allow      string // the methods, as in an Allow header field
	operations []operation
}

// operation is one of the contract's.
type operation struct {
	name    string // the contract's operation name
	method  string // GET stands for HEAD as well
	pattern string // as http.ServeMux would set Request.Pattern
	public  bool   // no credential is asked for

	// before, if set, adds the header fields that every answer of the
	// operation has, a refusal too.
	before func(http.Header)

	// do answers the request. An error means that it has sent nothing.
	do func(*exchange) error
}

// match returns the resource at u and its parameter, or nil.
func (h *handler) match(u *url.URL) (*resource, string) {
	// A slash that came as %2F is part of a segment and not the end of one;
	// no resource has such a segment. Other escapes mean their character
	// (RFC 3986, section 2.4), as they do in u.Path.
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

// operation returns the one that method asks for, or nil.
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
