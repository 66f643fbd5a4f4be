package conformance

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// largeList is the size in bytes from which on a target may end a list early.
const largeList = 1 << 20

// list is the body of a response to GET /pets. Its zero value is for other bodies.
type list struct {
	ok       bool // it is a list
	elements []jsontext.Value
	pets     []pet  // the elements with an id
	wrong    string // what is wrong with the first element that is not a Pet; "": all are Pets
	wrongID  int64  // its id, as far as it was read
	ends     bool   // it has fewer than 100 pets, and says of no further page
}

// readList returns the list in x.
func readList(x *probe.Exchange) list {
	var l list
	all, err := x.Array()
	for _, v := range all {
		p, wrong := readPet(probe.ParseObject(v))
		if wrong.id == nil {
			l.pets = append(l.pets, p)
		}
		if err := wrong.any(); err != nil && l.wrong == "" {
			l.wrong, l.wrongID = err.Error()+showElement(v), p.ID
		}
	}
	l.ok, l.elements = err == nil, all
	l.ends = l.ok && len(all) < 100 && len(l.pets) == len(all) && len(x.Body) < largeList && !hasNext(x)
	return l
}

// show returns the elements with that id, for the end of a message. A report may cut
// the list off before them.
func (l list) show(id int64) string {
	text := ""
	for _, v := range l.elements {
		if p, err := readPet(probe.ParseObject(v)); err.id == nil && p.ID == id {
			text += showElement(v)
		}
	}
	return text
}

func showElement(v jsontext.Value) string {
	v = v.Clone()
	_ = v.Compact() // on failure it is shown as it is
	return "\nin the list: " + probe.Cut(string(v), 200)
}

// hasNext reports whether x says that there is a further page: by a link (docs/contract.md,
// section 4.1), or by another field. A target that uses another field must not be accused
// of having lost the pets of its further pages.
func hasNext(x *probe.Exchange) bool {
	for name, values := range x.Header {
		if name == "Link" && relNext.MatchString(strings.Join(values, ",")) || namedNext.MatchString(name) {
			return true
		}
	}
	return false
}

// namedNext matches names of header fields such as X-Next-Page and Next-Cursor.
var namedNext = regexp.MustCompile(`(?i)^(x-)?(pagination-)?(next|cursor)(-(page|cursor|token|page-token|link|url|id|offset))?$`)

var relNext = regexp.MustCompile(`(?i)\brel\s*=\s*["']?[^"';,]*\bnext`)

// listQuery is a query of GET /pets whose meaning the contract states.
type listQuery struct {
	status string // "": absent
	limit  int    // 0: absent
}

// path returns the path of the list.
func (q listQuery) path() string {
	v := make(url.Values)
	if q.limit != 0 {
		v.Set("limit", strconv.Itoa(q.limit))
	}
	if q.status != "" {
		v.Set("status", q.status)
	}
	return strings.TrimSuffix("/pets?"+v.Encode(), "?")
}

// most returns the largest number of pets that the list may have.
func (q listQuery) most() int {
	if q.limit == 0 {
		return 20
	}
	return q.limit
}

// parseQuery returns the query of a request for a list. It returns nil if the contract
// does not say what the query means.
func parseQuery(path string) *listQuery {
	_, query, _ := strings.Cut(path, "?")
	v, err := url.ParseQuery(query)
	q := &listQuery{status: v.Get("status")}
	q.limit, _ = strconv.Atoi(v.Get("limit"))
	if err != nil || q.path() != strings.TrimSuffix("/pets?"+v.Encode(), "?") || q.limit < 0 || q.limit > 100 || !slices.Contains(append(statuses(), ""), q.status) {
		return nil
	}
	return q
}

// allPets is the query of the longest list with that status ("": with any).
func allPets(status string) listQuery { return listQuery{status, 100} }
