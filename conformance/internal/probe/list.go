package probe

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// LargeList is the size in bytes from which on a target may end a list early.
const LargeList = 1 << 20

// List is the body of a response to GET /pets. Its zero value is for other bodies.
type List struct {
	OK       bool // it is a list
	Elements []jsontext.Value
	Pets     []Pet          // the elements with an ID
	Wrong    []WrongElement // the elements that are not Pets
	More     bool           // the target may have ended the list early: it is large, or says that there is a further page
}

// WrongElement is an element of a list that is not a Pet.
type WrongElement struct {
	Pet  Pet    // as far as it was read
	Text string // what is wrong with it
}

// ReadList returns the list in x.
func ReadList(x *Exchange) List {
	all, err := x.Array()
	l := List{OK: err == nil, Elements: all, More: len(x.Body) >= LargeList || hasNext(x)}
	for _, v := range all {
		p, wrong := ReadPet(ParseObject(v))
		if wrong.ID == nil {
			l.Pets = append(l.Pets, p)
		}
		if err := wrong.Any(); err != nil {
			l.Wrong = append(l.Wrong, WrongElement{p, err.Error() + showElement(v)})
		}
	}
	return l
}

// Show returns the elements with that ID, for the end of a message. A report may cut
// the list off before them.
func (l List) Show(id int64) string {
	text := ""
	for _, v := range l.Elements {
		if p, err := ReadPet(ParseObject(v)); err.ID == nil && p.ID == id {
			text += showElement(v)
		}
	}
	return text
}

func showElement(v jsontext.Value) string {
	v = v.Clone()
	_ = v.Compact() // on failure it is shown as it is
	return "\nin the list: " + Cut(string(v), 200)
}

// hasNext reports whether x says that there is a further page: by a link (docs/contract.md,
// section 4.1), or by another field. A target that uses another field must not be accused
// of having lost the pets of its further pages.
func hasNext(x *Exchange) bool {
	for name, values := range x.Header {
		value := strings.Join(values, ",")
		if name == "Link" && relNext.MatchString(value) || namedNext.MatchString(name) && value != "" {
			return true
		}
	}
	return false
}

var (
	relNext = regexp.MustCompile(`(?i)\brel\s*=\s*["']?[^"';,]*\bnext`)

	// namedNext matches names of header fields such as X-Next-Page and Next-Cursor.
	namedNext = regexp.MustCompile(
		`(?i)^(x-)?(pagination-)?(next|cursor)(-(page|cursor|token|page-token|link|url|id|offset))?$`)
)

// ListQuery is a query of GET /pets whose meaning the contract states.
type ListQuery struct {
	Status string // "": absent
	Limit  int    // 0: absent
}

// LongestList is the query of the longest list with that status ("": with any).
func LongestList(status string) ListQuery { return ListQuery{status, 100} }

// Path returns the path of the list.
func (q ListQuery) Path() string {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	return strings.TrimSuffix("/pets?"+v.Encode(), "?")
}

// Most returns the largest number of pets that the list may have.
func (q ListQuery) Most() int {
	if q.Limit == 0 {
		return 20
	}
	return q.Limit
}

// ParseListQuery returns the query of a request for a list. It returns nil if the contract
// does not say what the query means.
func ParseListQuery(path string) *ListQuery {
	_, query, _ := strings.Cut(path, "?")
	v, err := url.ParseQuery(query)
	if err != nil {
		return nil
	}
	q := &ListQuery{Status: v.Get("status")}
	q.Limit, _ = strconv.Atoi(v.Get("limit"))
	stated := q.Path() == strings.TrimSuffix("/pets?"+v.Encode(), "?") // it has nothing else, and no other spelling
	if !stated || q.Limit < 0 || q.Limit > 100 || !slices.Contains(append(Statuses(), ""), q.Status) {
		return nil
	}
	return q
}
