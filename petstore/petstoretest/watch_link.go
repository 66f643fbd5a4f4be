package petstoretest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// pagingNames are query parameters that other services use for paging, in lower
// case and without punctuation.
var pagingNames = []string{
	"cursor", "page", "pageno", "pagenumber", "pagesize", "pagetoken", "pageafter", "pagecursor", "pageoffset",
	"perpage", "nexttoken", "nextpagetoken", "continuationtoken",
	"offset", "skip", "start", "startafter", "startingafter", "after", "afterid", "before", "endingbefore", "sinceid", "marker",
}

var punctuation = strings.NewReplacer("_", "", "-", "", "$", "", "[", "", "]", "", ".", "")

// ownCursor finds a request with a paging parameter, or a value of one, that was in
// no link.
func ownCursor(w *watcher, x *exchange) *mistake {
	if !x.isRead() {
		return nil
	}
	values, _ := url.ParseQuery(x.query) // leaves out what is malformed
	for name, all := range values {
		if !w.paging[name] && !slices.Contains(pagingNames, punctuation.Replace(strings.ToLower(name))) {
			continue
		}
		for _, value := range all {
			if !w.paging[name+"="+value] {
				return &mistake{did: fmt.Sprintf("sent the query parameter %q, which was in no Link of this server", name+"="+value)}
			}
		}
	}
	return nil
}

var linkTarget = regexp.MustCompile(`<([^>]*)>`)

// learnLinks records the links of the response. If the request follows an earlier
// link, it counts the difficulties of that link as handled.
func (w *watcher) learnLinks(x *exchange) {
	if x.path == "/pets" && x.isRead() && x.succeeded() {
		if values, err := url.ParseQuery(x.query); err == nil {
			w.handle(w.links[values.Encode()], "short-pages", "link-elsewhere")
		}
	}
	for _, field := range x.header.Values("Link") {
		for _, match := range linkTarget.FindAllStringSubmatch(field, -1) {
			u, err := url.Parse(match[1])
			if err != nil || u.RawQuery == "" {
				continue
			}
			values := u.Query()
			w.links[values.Encode()] = x.met
			for name, all := range values {
				if name == "limit" || name == "status" {
					continue
				}
				w.paging[name] = true
				for _, value := range all {
					w.paging[name+"="+value] = true
				}
			}
		}
	}
}
