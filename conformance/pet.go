package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// statuses are the values of the contract, section 2.4.
func statuses() []string { return []string{"available", "pending", "sold"} }

// newPet is a pet to create (contract, section 2.1).
type newPet struct {
	Name     string
	Category int64
	Status   string // "": absent
}

func (n newPet) json() string {
	status := ""
	if n.Status != "" {
		status = `,"status":` + quoteJSON(n.Status)
	}
	return fmt.Sprintf(`{"name":%s,"categoryId":%d%s}`, quoteJSON(n.Name), n.Category, status)
}

func quoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic("conformance: a text that is not UTF-8: " + err.Error())
	}
	return string(b)
}

// stored returns the pet that must be in the store after got is the response to n.
func (n newPet) stored(got pet) pet {
	n.Status = cmp.Or(n.Status, got.Status) // the contract leaves a default open
	return pet{ID: got.ID, newPet: n}
}

// has reports whether n has that status ("": any).
func (n newPet) has(status string) bool { return status == "" || n.Status == status }

// pet is a pet in the store (contract, section 2.2).
type pet struct {
	ID int64
	newPet

	// fraction names a member whose integer is written with a fraction or an exponent,
	// as in "id: 7.0". "": none is.
	fraction string

	// written is the categoryId as the target wrote it, for messages: 1e2 is not
	// 100 to somebody who searches for it.
	written string
}

func (p pet) id() int64 { return p.ID }

func (p pet) path() string { return petPath(p.ID) }

func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// wantSame ends the check if got, which was read from x, differs from want. The
// message begins with what.
func (want pet) wantSame(x *probe.Exchange, got pet, what string) {
	if diff, ok := want.diff(got); !ok {
		fail(x, "%s: %s", what, diff)
	}
}

func hasID(pets []pet, id int64) bool {
	return slices.ContainsFunc(pets, func(p pet) bool { return p.ID == id })
}

// diff returns how got differs from want. same reports that it does not.
func (want pet) diff(got pet) (diff flaw, same bool) {
	changed := func(clause, format string, args ...any) (flaw, bool) {
		return flaw{Violation: Violation{Clause: clause, Kind: "changed: " + clause}, text: fmt.Sprintf(format, args...)}, false
	}
	quoted := func(s string) string { return probe.Short(strconv.Quote(s)) }
	status := func(s string) string {
		if s == "" {
			return "absent"
		}
		return quoted(s)
	}
	switch {
	case got.ID != want.ID:
		return changed("id", "the id is %d, want %d", got.ID, want.ID)
	case got.Name != want.Name:
		return changed("name", "the name is %s, want %s", quoted(got.Name), quoted(want.Name))
	case got.Category != want.Category:
		return changed("category", "categoryId is %s, want %d", orAbsent(probe.Short(got.written)), want.Category)
	case got.Status != want.Status:
		return changed("status-set", "the status is %s, want %s", status(got.Status), status(want.Status))
	}
	return diff, true
}

// parsePet reads a pet that must be as the contract says. Members that the
// contract does not name are allowed.
func parsePet(x *probe.Exchange) (pet, error) {
	p, noID, invalid := readMembers(x.Object())
	return p, cmp.Or(noID, invalid)
}

// guessPet reads what it can of a pet, for checks that test something else than
// its form. An id that cannot be read is an error.
func guessPet(x *probe.Exchange) (pet, error) {
	p, noID, _ := readMembers(x.Object())
	return p, noID
}

// readMembers reads what it can of a pet, unless err says that there is none. It
// returns what is wrong with its id and with its other members.
func readMembers(o probe.Object, err error) (p pet, noID, invalid error) {
	if err != nil {
		return p, err, err
	}
	var noName, noCategory, noStatus error
	p.ID, noID = o.Int64("id")
	p.Name, noName = o.Str("name")
	p.Category, noCategory = o.Int64("categoryId")
	p.written = string(o["categoryId"])
	for _, name := range []string{"id", "categoryId"} {
		if v := o[name]; v.Kind() == '0' && bytes.ContainsAny(v, ".eE") {
			p.fraction = name + ": " + probe.Short(string(v))
		}
	}
	if _, ok := o["status"]; ok {
		if p.Status, noStatus = o.Str("status"); noStatus == nil && !slices.Contains(statuses(), p.Status) {
			noStatus = &probe.Error{Member: "status", Kind: notStatus, Text: fmt.Sprintf("must be available, pending or sold, got %q", p.Status)}
		}
	}
	return p, noID, cmp.Or(noName, noCategory, noStatus)
}

// validPet returns the pet that a body adds, or nil if the contract does not say
// that it is one.
func validPet(body []byte) *newPet {
	p, _, invalid := readMembers(probe.ParseObject(body))
	if invalid != nil || !jsontext.Value(body).IsValid() {
		return nil
	}
	return &p.newPet
}

// sentPet returns the pet in the request of x.
func sentPet(x *probe.Exchange) newPet {
	p, _, _ := readMembers(probe.ParseObject(x.Request.Body))
	return p.newPet
}

// readPet returns the pet that the body of x must be.
func readPet(x *probe.Exchange) pet { return read(x, "a Pet", parsePet) }

// readAnyPet is readPet for a check that needs only the id.
func readAnyPet(x *probe.Exchange) pet { return read(x, "a Pet", guessPet) }

// readList returns the elements of the array that the body of x must be.
func readList(x *probe.Exchange) []jsontext.Value { return read(x, "", (*probe.Exchange).Array) }

// readObject returns the object that the body of x must be.
func readObject(x *probe.Exchange) probe.Object { return read(x, "", (*probe.Exchange).Object) }

// readString returns a member of the object that the body of x must be.
func readString(x *probe.Exchange, member, what string) string {
	return read(x, what, memberOf(member, probe.Object.Str))
}

// memberOf returns a function that reads a member of an object.
func memberOf[T any](name string, read func(probe.Object, string) (T, error)) func(*probe.Exchange) (T, error) {
	return func(x *probe.Exchange) (member T, err error) {
		o, err := x.Object()
		if err != nil {
			return member, err
		}
		return read(o, name)
	}
}

// read parses the body of x, which must be what ("": the error says it). It ends the
// check if that fails.
func read[T any](x *probe.Exchange, what string, parse func(*probe.Exchange) (T, error)) T {
	if _, err := x.JSON(); err != nil {
		fail(x, "%v", misread("", err))
	}
	t, err := parse(x)
	switch {
	case err != nil && what == "":
		fail(x, "the body %v", misread(what, err))
	case err != nil:
		fail(x, "the body is not %s: %v", what, misread(what, err))
	}
	return t
}

// wantJSON ends the check if x is not declared to be JSON.
func wantJSON(x *probe.Exchange) {
	ct := x.Header.Get("Content-Type")
	if ct == "" {
		fail(x, "the response has no Content-Type, want application/json")
	}
	// The contract says nothing about parameters, well-formed or not.
	if media, _, _ := mime.ParseMediaType(ct); media != "application/json" {
		fail(x, "the Content-Type of the response is %q, want application/json", ct)
	}
}

// shown is an argument for the message of a failure: lines with elements of a list. A
// report may cut off the list before these elements.
type shown struct {
	id   *int64 // of the pet; nil: it cannot be read
	text string
}

func (s shown) String() string { return s.text }

func showElement(i int, v jsontext.Value) shown {
	v = v.Clone()
	_ = v.Compact() // on failure it is shown as it is
	s := shown{text: fmt.Sprintf("\nelement %d of the list: %s", i, probe.Cut(string(v), 400))}
	if p, noID, _ := readMembers(probe.ParseObject(v)); noID == nil {
		s.id = &p.ID
	}
	return s
}
