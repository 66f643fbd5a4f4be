package petstoretest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// pagingNames are query parameters with which other services turn pages, in lower
// case and without punctuation.
var pagingNames = []string{
	"cursor", "page", "pageno", "pagenumber", "pagesize", "pagetoken", "pageafter", "pagecursor", "pageoffset",
	"perpage", "nexttoken", "nextpagetoken", "continuationtoken",
	"offset", "skip", "start", "startafter", "startingafter", "after", "afterid", "before", "endingbefore", "sinceid", "marker",
}

var punctuation = strings.NewReplacer("_", "", "-", "", "$", "", "[", "", "]", "", ".", "")

// ownCursor: the request turns pages with a parameter, or a value of one, that no
// link had.
func ownCursor(w *watcher, x *exchange) *mistake {
	if !x.isRead() {
		return nil
	}
	values, _ := url.ParseQuery(x.query) // without what is malformed
	for name, all := range values {
		if !w.paging[name] && !slices.Contains(pagingNames, punctuation.Replace(strings.ToLower(name))) {
			continue
		}
		for _, value := range all {
			if !w.paging[name+"="+value] {
				return &mistake{did: fmt.Sprintf("sent the query parameter %s=%s, which no Link of this server had", name, value)}
			}
		}
	}
	return nil
}

var linkTarget = regexp.MustCompile(`<([^>]*)>`)

// learnLinks remembers the links of the response, and whether the request follows
// an earlier one.
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
