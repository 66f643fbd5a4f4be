package conformance

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The operations of the contract.
const (
	opList   = "GET /pets"
	opCreate = "POST /pets"
	opGet    = "GET /pets/{petId}"
	opSubmit = "POST /messages"
)

// exchange is an exchange of a run, with what a check asks about it: what it says by
// itself, and the questions that more than one check asks. An author of a check reads this
// file, and meaning in stimuli.go.
type exchange struct {
	*probe.Exchange // the request and the response: Status, Header, Succeeded() …
	meaning         // what the body of a POST asks for: sent, text, breaks …
	op              string

	query *listQuery // of GET /pets; nil: another operation, or the contract does not say what the query means
	list  list       // the body of a 200 for GET /pets
	id    *int64     // in the path of GET /pets/{petId}; nil: none
	names []string   // the names of the run in the body of a POST /pets

	pet    pet // in a successful response to POST /pets or GET /pets/{petId}
	petErr petError

	run *history

	// twin is the first response to the same operation with the same id, if that is an
	// earlier one. Nil: there is none.
	twin *exchange
}

// read returns what p says by itself.
func (f facts) read(p *probe.Exchange) *exchange {
	x := &exchange{Exchange: p, op: p.Request.Operation()}
	x.meaning, _ = p.Request.Meaning.(meaning)
	switch x.op {
	case opList:
		if p.Status == http.StatusOK {
			x.list = readList(p)
		}
		if p.Status == http.StatusOK || !strings.Contains(p.Request.Path, "%") { // a proxy may refuse an escape
			x.query = parseQuery(p.Request.Path)
		}
	case opGet:
		x.id = parseID(p.Request.Path)
	case opCreate:
		for _, name := range f.ours.FindAll(p.Request.Body, -1) {
			x.names = append(x.names, string(name))
		}
	}
	if (x.op == opGet || x.op == opCreate) && x.Succeeded() {
		x.pet, x.petErr = readPet(x.Object())
	}
	return x
}

// parseID returns the id in a path such as /pets/7, or nil if it is not written so.
func parseID(path string) *int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(path, "/pets/"), 10, 64)
	if err != nil || petPath(id) != path {
		return nil
	}
	return &id
}

// kind is what is particular about the request of x: what a report names if a check fails
// in several ways. "": nothing.
func (x *exchange) kind() string {
	switch {
	case x.what != "":
		return x.what
	case !x.Request.Credential.Is(probe.ValidKey()):
		return x.credential()
	case x.op == opGet && x.creation() == nil || x.op == opList:
		return "GET " + x.Request.Path
	}
	return ""
}

// credential names the credential of x.
func (x *exchange) credential() string {
	if what := x.Request.Credential.What; what != "" {
		return what
	}
	return "no Authorization field"
}

// Whether the request of x is valid, and whether the target may refuse it all the same.

// valid reports whether the request of x is valid, its credential included.
func (x *exchange) valid() bool { return x.validHeader() && x.validPathAndBody() }

// validHeader reports whether the request of x has the valid key and accepts JSON.
func (x *exchange) validHeader() bool {
	accept := x.Request.Fields()["Accept"]
	accepts := accept == "" || strings.Contains(accept, "application/json") || strings.Contains(accept, "*/*")
	return accepts && x.Request.Credential.Is(probe.ValidKey())
}

// validPathAndBody reports whether the request of x is valid, apart from its credential.
func (x *exchange) validPathAndBody() bool {
	return x.query != nil || x.sent != nil || x.text != nil || x.exists()
}

// largeBody is the length in bytes from which on a target may refuse a body for that.
const largeBody = 1 << 10

// tooLarge reports whether x refuses a large body with 413.
func (x *exchange) tooLarge() bool {
	return x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= largeBody
}

// mayRefuse reports whether x refuses a valid request as the contract allows. The target
// may have acted on a POST that was sent before and got no response, and take this one for
// a duplicate. The contract does not say which categories there are.
func (x *exchange) mayRefuse() bool {
	switch {
	case !x.Refused():
		return false
	case x.free, x.tooLarge(), x.gone(), x.Request.Method == http.MethodPost && x.Attempts > 1:
		return true
	}
	return x.Status == http.StatusBadRequest && (x.arguable != "" || x.sent != nil && !x.run.categories[x.sent.Category])
}

// gone reports whether x is about an operation that was removed as scheduled.
func (x *exchange) gone() bool { return x.op == opGet && x.run.removed }

// ofPets reports whether x is about an operation on pets.
func (x *exchange) ofPets() bool { return x.op == opList || x.op == opGet || x.op == opCreate }

// What the body of x must be.

// isList reports whether the body of x must be a list.
func (x *exchange) isList() bool { return x.op == opList && x.Status == http.StatusOK }

// hasElements reports whether the body of x is a list that is not empty.
func (x *exchange) hasElements() bool { return len(x.list.elements) > 0 }

// isNewPet reports whether the body of x must be the pet that was added.
func (x *exchange) isNewPet() bool { return x.sent != nil && x.Succeeded() }

// isAdded reports whether x shows the id of the pet that was added.
func (x *exchange) isAdded() bool { return x.isNewPet() && x.petErr.id == nil }

// isRecord reports whether the body of x must be the record of a message.
func (x *exchange) isRecord() bool { return x.text != nil && x.Succeeded() }

// member returns a member of the body of x that must be a string.
func (x *exchange) member(name string) (string, error) {
	o, err := x.Object()
	if err != nil {
		return "", err
	}
	return o.Str(name)
}

// What the run knows of a pet.

// stored returns the pet that must be in the store since x added it.
func (x *exchange) stored() pet {
	n := *x.sent
	if n.Status == "" {
		n.Status = x.pet.Status // the contract leaves a default open
	}
	return pet{ID: x.pet.ID, newPet: n}
}

// creation returns the exchange that added the pet in the path of x. Nil: none did
// before x was sent.
func (x *exchange) creation() *exchange {
	if x.id == nil {
		return nil
	}
	c := x.run.added[*x.id]
	if c == nil || !c.Received.Before(x.Sent) {
		return nil
	}
	return c
}

// exists reports whether the pet in the path of x was in the store when x was sent. Of
// another client's pet, lists before and after x must have it.
func (x *exchange) exists() bool {
	if x.id == nil {
		return false
	}
	if first := x.run.firstShown[*x.id]; first != nil {
		return first.Received.Before(x.Sent)
	}
	before, after := false, false
	for _, l := range x.run.lists[allPets("")] {
		before = before || l.Received.Before(x.Sent) && hasID(l.list.pets, *x.id)
		after = after || l.Sent.After(x.Received) && hasID(l.list.pets, *x.id)
	}
	return before && after
}

// spoiler returns the creation that may be why x, a list, fails: the last one before x that
// got a 5xx since a list succeeded, and otherwise the last one that succeeded. Nil: there is
// none.
func (x *exchange) spoiler() *exchange {
	var failed, last *exchange
	for _, y := range x.run.all {
		switch {
		case !y.Received.Before(x.Sent):
		case y.isList():
			failed = nil
		case y.op == opCreate && y.Status >= 500:
			failed = y
		case y.op == opCreate && y.Succeeded():
			last = y
		}
	}
	return cmp.Or(failed, last)
}

// sameQuery returns the other lists with the query of x, a list: those before x and those
// after it, in the order of Sent.
func (x *exchange) sameQuery() (earlier, later []*exchange) {
	all := x.run.lists[*x.query]
	i := slices.Index(all, x)
	return all[:i], all[i+1:]
}
