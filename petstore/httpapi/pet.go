package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"example.com/animalstore/petstore"
)

// sunset is when GET /pets/{petId} is scheduled for removal (contract,
// section 4.3).
var (
	sunset       = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)
	sunsetValues = []string{sunset.Format(http.TimeFormat)}
)

var (
	errGone  = petstore.Errorf(CodeGone, "GET /pets/{petId} was removed on 5 December 2030; list pets with GET /pets and its status parameter")
	errPetID = petstore.Errorf(petstore.CodeNotFound, "petId: not a 64-bit integer, so no pet has it")
)

// pets has the operations on pets.
type pets struct {
	service petstore.Service
	reader  petstore.EncodedReader
	opts    Options

	deprecation []string // the values of the Deprecation field of getPet
}

func newPets(service petstore.Service, opts Options) *pets {
	p := &pets{
		service:     service,
		reader:      opts.Encoded,
		opts:        opts,
		deprecation: []string{"@" + strconv.FormatInt(opts.Deprecation.Unix(), 10)},
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

// list is listPets (contract, section 4.1). A Link field leads to the next page
// (RFC 8288); the body stays a bare array.
func (p *pets) list(x *exchange) (response, error) {
	q, err := parseListQuery(x.r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	built, err := startBuilding(x.ctx)
	if err != nil {
		return response{}, err
	}
	defer built()
	body, next, err := p.reader.AppendPage(x.ctx, x.buffer(), q)
	if err != nil {
		return response{}, err
	}
	if err := x.reserve(body); err != nil {
		return response{}, err
	}
	if next != "" {
		x.w.Header().Add("Link", nextLink(q, next))
	}
	return response{http.StatusOK, body}, nil
}

// create is createPet (contract, section 4.2).
func (p *pets) create(x *exchange) (response, error) {
	newPet, once, err := readRequest(x, decodeNewPet)
	if err != nil {
		return response{}, err
	}
	if p.opts.Validate != nil {
		if err := p.opts.Validate(x.ctx, newPet); err != nil {
			return response{}, err
		}
	}
	pet, err := p.service.CreatePet(x.ctx, newPet, once)
	if err != nil {
		return response{}, err
	}
	body, err := encoded(pet.AppendJSON(nil))
	if err != nil {
		return response{}, err
	}
	// Relative to the request's own path, so right under every prefix.
	x.w.Header().Set("Location", "pets/"+strconv.FormatInt(pet.ID, 10))
	return response{http.StatusCreated, body}, nil
}

// get is getPet (contract, section 4.3).
func (p *pets) get(x *exchange) (response, error) {
	if p.opts.SunsetGone && !p.opts.Now().Before(sunset) {
		return response{}, errGone
	}
	id, err := strconv.ParseInt(x.param, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != x.param { // an ID has one form: 01 and +1 are not IDs
		return response{}, errPetID
	}
	body, err := p.reader.AppendPet(x.ctx, x.buffer(), id)
	if err != nil {
		return response{}, err
	}
	return response{http.StatusOK, body}, x.reserve(body)
}

// deprecated adds the header fields of RFC 9745 and RFC 8594, and a link to
// the operation that replaces this one.
func (p *pets) deprecated(h http.Header) {
	h["Deprecation"], h["Sunset"] = p.deprecation, sunsetValues
	h.Add("Link", `<../pets>; rel="successor-version"`)
}

// encoder is the EncodedReader of a Service without one.
type encoder struct {
	petstore.Service
}

func (e encoder) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	pet, err := e.GetPet(ctx, id)
	if err != nil {
		return dst, err
	}
	return encoded(pet.AppendJSON(dst))
}

func (e encoder) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	page, err := e.ListPets(ctx, q)
	if err != nil {
		return dst, "", err
	}
	dst, err = encoded(page.AppendJSON(dst))
	return dst, page.Next, err
}

// encoded returns the result of an encoding. A value that cannot be encoded is
// the service's fault, not the client's.
func encoded(body []byte, err error) ([]byte, error) {
	if err != nil {
		return body, &petstore.Error{Code: petstore.CodeInternal, Err: err}
	}
	return body, nil
}
