package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// sunset is when GET /pets/{petId} is scheduled for removal (contract,
// section 4.3).
var (
	sunset      = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)
	sunsetField = sunset.Format(http.TimeFormat)
)

var (
	errGone = &petstore.Error{
		Code:    CodeGone,
		Message: "GET /pets/{petId} was removed on 5 December 2030; list pets with GET /pets and its status parameter",
	}
	errPetID = &petstore.Error{
		Code:    petstore.CodeNotFound,
		Message: "petId: not a 64-bit integer, so no pet has it",
	}
)

// pets are the operations on pets.
type pets struct {
	service petstore.Service
	reader  petstore.EncodedReader
	opts    Options

	deprecation string // the field of the deprecated operation
}

func newPets(service petstore.Service, opts Options) *pets {
	p := &pets{
		service:     service,
		reader:      opts.Encoded,
		opts:        opts,
		deprecation: "@" + strconv.FormatInt(opts.Deprecation.Unix(), 10),
	}
	if p.reader == nil {
		p.reader = encoder{service}
	}
	return p
}

func (p *pets) resources() []resource {
	return []resource{
		{path: "/pets", allow: "GET, HEAD, POST", operations: []operation{
			{name: "listPets", method: http.MethodGet, pattern: "GET /pets", do: p.list},
			{name: "createPet", method: http.MethodPost, pattern: "POST /pets", do: p.create},
		}},
		{path: "/pets/", hasParam: true, allow: "GET, HEAD", operations: []operation{
			{name: "getPet", method: http.MethodGet, pattern: "GET /pets/{petId}", before: p.deprecated, do: p.get},
		}},
	}
}

// list is listPets (contract, section 4.1). Further pages are found through
// a Link field (RFC 8288); the body stays a bare array.
func (p *pets) list(x *exchange) error {
	q, err := parseListQuery(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	if err := x.enter(); err != nil {
		return err
	}
	body, next, err := p.reader.AppendPage(x.ctx, x.buf[:0], q)
	if err == nil {
		err = x.reserve(body)
	}
	x.leave()
	if err == nil && next != "" {
		addLink(x.w.Header(), []string{nextLink(q, next)})
	}
	return x.reply(http.StatusOK, body, err)
}

// create is createPet (contract, section 4.2).
func (p *pets) create(x *exchange) error {
	pet, err := submit(x, decodeNewPet, p.validateAndCreate)
	if err != nil {
		return err
	}
	body, err := appendPet(x.buf[:0], pet)
	if err == nil {
		// Relative to the request's own path, so right under every prefix.
		x.w.Header()["Location"] = []string{"pets/" + strconv.FormatInt(pet.ID, 10)}
	}
	return x.reply(http.StatusCreated, body, err)
}

func (p *pets) validateAndCreate(ctx context.Context, pet petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if p.opts.Validate != nil {
		if err := p.opts.Validate(ctx, pet); err != nil {
			return petstore.Pet{}, err
		}
	}
	return p.service.CreatePet(ctx, pet, once)
}

// get is getPet (contract, section 4.3).
func (p *pets) get(x *exchange) error {
	if p.opts.SunsetGone && !p.opts.Now().Before(sunset) {
		return errGone
	}
	id, ok := parseID(x.param)
	if !ok {
		return errPetID
	}
	body, err := p.reader.AppendPet(x.ctx, x.buf[:0], id)
	if err == nil {
		err = x.reserve(body)
	}
	return x.reply(http.StatusOK, body, err)
}

// deprecated adds the header fields of RFC 9745 and RFC 8594, and a link to
// what takes the operation's place.
func (p *pets) deprecated(h http.Header) {
	// Of this answer alone, since middleware may change them in place.
	values := &[3]string{p.deprecation, sunsetField, `<../pets>; rel="successor-version"`}
	h["Deprecation"] = values[0:1:1]
	h["Sunset"] = values[1:2:2]
	addLink(h, values[2:3:3])
}

// addLink adds link to what middleware may have put there.
func addLink(h http.Header, link []string) {
	if old := h["Link"]; len(old) > 0 {
		link = append(old[:len(old):len(old)], link...)
	}
	h["Link"] = link
}

// parseID returns the int64 that s is the one decimal form of.
func parseID(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] < '0' || digits[0] == '0' && s != "0" {
		return 0, false // no digit, a sign too many, or a leading zero
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil
}

// encoder is the EncodedReader of a Service that comes without one. Answers
// are made from an EncodedReader either way, so that they cannot differ.
type encoder struct {
	petstore.Service
}

func (e encoder) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	pet, err := e.GetPet(ctx, id)
	if err != nil {
		return dst, err
	}
	return appendPet(dst, pet)
}

func (e encoder) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	page, err := e.ListPets(ctx, q)
	if err != nil {
		return dst, "", err
	}
	b, err := page.AppendJSON(dst)
	if err != nil {
		return dst, "", &petstore.Error{Code: petstore.CodeInternal, Err: err}
	}
	return b, page.Next, nil
}

// appendPet appends a pet's wire form. One that has none is the service's
// fault, not the client's.
func appendPet(dst []byte, pet petstore.Pet) ([]byte, error) {
	b, err := pet.AppendJSON(dst)
	if err != nil {
		return dst, &petstore.Error{Code: petstore.CodeInternal, Err: err}
	}
	return b, nil
}
