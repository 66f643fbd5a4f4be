package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// exchange is an exchange of a run, with what a check asks about it: what it says by
// itself, and the questions that more than one check asks. An author of a check reads this
// file, and Intent in probe/request.go.
type exchange struct {
	*probe.Exchange // the request and the response: Status, Header, Succeeded() …
	op              string
	intent          probe.Intent // of the request

	query *probe.ListQuery // of GET /pets; nil: another operation, or the contract does not say what the query means
	list  probe.List       // the body of a 200 for GET /pets
	id    *int64           // in the path of GET /pets/{petId}; nil: none

	pet    probe.Pet // in a successful response to POST /pets or GET /pets/{petId}
	petErr probe.PetError

	recordID  string    // of the record of a message; "": it has none
	createdAt time.Time // of the record of a message; zero: it has no timestamp of RFC 3339

	run *history
}

// readExchange returns what p says by itself, as an exchange of run.
func readExchange(run *history, p *probe.Exchange) *exchange {
	x := &exchange{Exchange: p, run: run, op: p.Request.Operation(), intent: p.Request.Intent}
	switch x.op {
	case probe.ListPets:
		if p.Status == http.StatusOK {
			x.list = probe.ReadList(p)
		}
		if p.Status == http.StatusOK || !strings.Contains(p.Request.Path, "%") { // a proxy may refuse an escape
			x.query = probe.ParseListQuery(p.Request.Path)
		}
	case probe.GetPet:
		x.id = parseID(p.Request.Path)
	}
	if (x.op == probe.GetPet || x.op == probe.CreatePet) && x.Succeeded() {
		x.pet, x.petErr = probe.ReadPet(x.Object())
	}
	if x.isRecord() {
		x.recordID, _ = x.member("id")
		text, _ := x.member("createdAt")
		x.createdAt, _ = parseTimestamp(text)
	}
	return x
}

// parseID returns the ID in a path such as /pets/7, or nil if it is not written so.
func parseID(path string) *int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(path, "/pets/"), 10, 64)
	if err != nil || probe.PetPath(id) != path {
		return nil
	}
	return &id
}

// kind is what is particular about the request of x: what a report names if a check fails
// in several ways. "": nothing.
func (x *exchange) kind() string {
	switch {
	case x.intent.Unusual != "":
		return x.intent.Unusual
	case !x.hasKey():
		return x.credential()
	case x.op == probe.GetPet && x.creation() == nil || x.op == probe.ListPets:
		return "GET " + x.Request.Path
	}
	return ""
}

// title names the request of x.
func (x *exchange) title() string {
	switch kind := x.kind(); {
	case strings.HasPrefix(kind, "GET "):
		return kind
	case kind != "":
		return x.op + " with " + kind
	}
	return x.op
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
func (x *exchange) valid() bool { return x.hasKey() && x.validPathAndBody() }

// hasKey reports whether the request of x has the valid key.
func (x *exchange) hasKey() bool { return x.Request.Credential.Is(probe.ValidKey()) }

// validPathAndBody reports whether the request of x is valid, apart from its credential.
func (x *exchange) validPathAndBody() bool {
	return x.query != nil || x.intent.Pet != nil || x.intent.Text != nil || x.exists()
}

// largeBody is the length in bytes from which on a target may refuse a body for that.
const largeBody = 1 << 10

// tooLarge reports whether x refuses a large body with 413.
func (x *exchange) tooLarge() bool {
	return x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= largeBody
}

// mayRefuse reports whether x refuses a valid request as the contract allows. The target
// may have acted on a POST that was sent before and got no response, and take this one for
// a duplicate.
func (x *exchange) mayRefuse() bool {
	if x.intent.MayRefuse == probe.WithAnything {
		return true
	}
	if !x.Refused() {
		return false
	}
	repeated := x.Request.Method == http.MethodPost && x.Attempt > 1
	return repeated || x.tooLarge() || x.gone() ||
		x.intent.MayRefuse == probe.With4xx ||
		x.intent.MayRefuse == probe.With400 && x.Status == http.StatusBadRequest
}

// gone reports whether x is about an operation that was removed as scheduled.
func (x *exchange) gone() bool { return x.op == probe.GetPet && x.run.removed }

// ofPets reports whether x is about an operation on pets.
func (x *exchange) ofPets() bool {
	return x.op == probe.ListPets || x.op == probe.GetPet || x.op == probe.CreatePet
}

// What the body of x must be.

// isList reports whether the body of x must be a list.
func (x *exchange) isList() bool { return x.op == probe.ListPets && x.Status == http.StatusOK }

// hasElements reports whether the body of x is a list that is not empty.
func (x *exchange) hasElements() bool { return len(x.list.Elements) > 0 }

// isCreation reports whether the body of x must be the pet that was added.
func (x *exchange) isCreation() bool { return x.intent.Pet != nil && x.Succeeded() }

// isAdded reports whether x shows the ID of the pet that was added.
func (x *exchange) isAdded() bool { return x.isCreation() && x.petErr.ID == nil }

// isRecord reports whether the body of x must be the record of a message.
func (x *exchange) isRecord() bool { return x.intent.Text != nil && x.Succeeded() }

// member returns a member of the body of x that must be a string.
func (x *exchange) member(name string) (string, error) {
	o, err := x.Object()
	if err != nil {
		return "", err
	}
	return o.Str(name)
}

// What the run knows of a pet.

// asSent returns the pet that must be in the store since x added it.
func (x *exchange) asSent() probe.Pet {
	n := *x.intent.Pet
	if n.Status == "" {
		n.Status = x.pet.Status // the contract leaves a default open
	}
	return probe.Pet{ID: x.pet.ID, NewPet: n}
}

// keeps reports whether the response x to a new pet shows it as it was sent.
func (x *exchange) keeps() bool {
	field, _ := x.asSent().Diff(x.pet)
	return x.petErr.Any() == nil && field == ""
}

// differs says in which field p, which a later response shows, differs from the pet that x
// added. If x does not show the pet as it was sent, a check of x has found that. Then a later
// response may show the pet as it was sent, or as x does.
func (x *exchange) differs(p probe.Pet) (field, text string) {
	if x.pet.LooksLike(p) {
		return "", ""
	}
	return x.asSent().Diff(p)
}

// followsFrom reports whether what is wrong with p, which a later response shows, is a fault of
// the creation c that a check of c has found: c has accepted a wrong body, or shows the pet in
// the same way. c may be nil.
func followsFrom(c *exchange, p probe.Pet) bool {
	return c != nil && (c.intent.FailsCheck != "" || c.pet.LooksLike(p))
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

// exists reports whether the pet in the path of x was in the store when x was sent.
func (x *exchange) exists() bool {
	if x.id == nil {
		return false
	}
	first := x.run.firstShown[*x.id]
	return first != nil && first.Received.Before(x.Sent)
}
