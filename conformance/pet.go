package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// statuses are the values of the contract, section 2.4, and anyStatus also has "" for a pet without
// one, or a list of any.
var (
	statuses  = []string{"available", "pending", "sold"}
	anyStatus = []string{"available", "pending", "sold", ""}
)

// newPet is a pet to create (contract, section 2.1).
type newPet struct {
	name     string
	category int64
	status   string // "": absent
}

// pet returns a valid pet with a name of its own.
func (r *run) pet(status string) newPet { return newPet{r.name(), r.category, status} }

// json returns n as the body of a request.
func (n newPet) json() string {
	status := ""
	if n.status != "" {
		status = `,"status":` + quoteJSON(n.status)
	}
	return fmt.Sprintf(`{"name":%s,"categoryId":%d%s}`, quoteJSON(n.name), n.category, status)
}

// quoteJSON returns s, which is UTF-8, as a JSON string.
func quoteJSON(s string) string {
	b, _ := jsontext.AppendQuote(nil, s)
	return string(b)
}

// has reports whether n has that status ("": any).
func (n newPet) has(status string) bool { return status == "" || n.status == status }

// pet is a pet in a response (contract, section 2.2), as far as it can be read.
type pet struct {
	id int64
	newPet
	noID, err error  // what is wrong with its ID, and with it as a whole
	written   string // all its members as they are written
	fraction  string // an integer that is written with a fraction or an exponent, as in "id: 7.0"; "": none is
}

// petPath returns the path of the pet with that ID.
func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// pet returns the pet that the body must be.
func (x *exchange) pet() pet { return readPet(x.object()) }

// readPet reads a pet. Members that the contract does not name are allowed.
func readPet(o object, err error) pet {
	if err != nil {
		return pet{noID: err, err: err}
	}
	var p pet
	var noName, noCategory, noStatus error
	p.id, p.noID = o.int64("id")
	p.name, noName = o.str("name")
	p.category, noCategory = o.int64("categoryId")
	for _, name := range []string{"id", "name", "categoryId", "status"} {
		p.written += name + ":" + string(o[name]) + " "
		if v := o[name]; v.Kind() == '0' && bytes.ContainsAny(v, ".eE") {
			p.fraction = name + ": " + short(string(v))
		}
	}
	if _, ok := o["status"]; ok {
		p.status, noStatus = o.str("status")
		if noStatus == nil && !slices.Contains(statuses, p.status) {
			noStatus = fmt.Errorf("status: must be available, pending or sold, got %q", short(p.status))
		}
	}
	p.err = cmp.Or(p.noID, noName, noCategory, noStatus)
	return p
}

// diff returns the first member in which got differs from want, and how. "": they do
// not differ.
func (want pet) diff(got pet) (member, text string) {
	switch {
	case got.name != want.name:
		return "name", "the name is " + different(got.name, want.name)
	case got.category != want.category:
		return "categoryId", fmt.Sprintf("it is %s, want categoryId %d", short(got.written), want.category)
	case got.status != want.status:
		return "status", fmt.Sprintf("the status is %q, want %q", short(got.status), want.status)
	}
	return "", ""
}

// list is the body of a response to GET /pets. It is empty if the status is not 200.
type list struct {
	err  error // it is not a list
	pets []pet
	raw  []jsontext.Value // the pets as they are written
	more bool             // the target may have ended the list early: it is large, or says that there is a further page
}

// largeList is the length in bytes from which on a target may end a list early.
const largeList = 1 << 20

func (x *exchange) list() list {
	if x.status != 200 {
		return list{}
	}
	raw, err := x.array()
	l := list{err: err, raw: raw, more: len(x.body) >= largeList || x.hasNext()}
	for _, v := range raw {
		l.pets = append(l.pets, readPet(readObject(v)))
	}
	return l
}

// has reports whether l has a pet with that ID.
func (l list) has(id int64) bool {
	return slices.ContainsFunc(l.pets, func(p pet) bool { return p.id == id && p.noID == nil })
}

// first returns the finding about the first pet with which something is wrong.
func (r *run) first(l list, judge func(pet) finding) finding {
	for i, p := range l.pets {
		if f := judge(p); f.text != "" {
			// A report may cut the list off before the pet.
			return wrong("%s\nin the list: %s", f.text, cut(string(l.raw[i]), 200)).after(r.added[p.id].creation())
		}
	}
	return finding{}
}

// hasNext reports whether x says that there is a further page: by a link (contract,
// section 4.1), or by another field. A target that uses another field must not be accused
// of having lost the pets of its further pages.
func (x *exchange) hasNext() bool {
	for name, values := range x.header {
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

// query is a query of GET /pets.
type query struct {
	status string // "": absent
	limit  int    // 0: absent
}

func (q query) path() string {
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
func (q query) most() int { return cmp.Or(q.limit, 20) }
