package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"example.com/animalstore/petstore"
)

// GET /pets/{petId} is scheduled for removal (contract, section 4.3). The
// contract does not say since when it is deprecated.
var (
	sunsetValues      = []string{"Thu, 05 Dec 2030 00:00:00 GMT"}
	deprecationValues = []string{"@1795132800"} // 2026-11-20 (RFC 9745)
)

var errPetID = petstore.Errorf(petstore.CodeNotFound, "petId: not a 64-bit integer, so no pet has it")

// listPets is the operation of section 4.1 of the contract. A Link field leads to
// the next page (RFC 8288); the body stays a bare array.
func (x *exchange) listPets() (response, error) {
	q, err := parseListQuery(x.r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	body, next, err := x.h.encoded.AppendPage(x.ctx, x.buffer(), q)
	if err != nil {
		return response{}, err
	}
	resp, err := x.serveRead(body)
	if err == nil && next != "" {
		x.w.Header().Add("Link", nextLink(q, next))
	}
	return resp, err
}

// createPet is the operation of section 4.2 of the contract.
func (x *exchange) createPet() (response, error) {
	newPet, once, err := readRequest(x, decodeNewPet)
	if err != nil {
		return response{}, err
	}
	if x.h.opts.Validate != nil {
		if err := x.h.opts.Validate(x.ctx, newPet); err != nil {
			return response{}, err
		}
	}
	pet, err := x.h.service.CreatePet(x.ctx, newPet, once)
	if err != nil {
		return response{}, err
	}
	body, err := checked(pet.AppendJSON(nil))
	if err != nil {
		return response{}, err
	}
	// Relative to the request's own path, so right under every prefix.
	x.w.Header().Set("Location", "pets/"+strconv.FormatInt(pet.ID, 10))
	return response{http.StatusCreated, body}, nil
}

// getPet is the operation of section 4.3 of the contract.
func (x *exchange) getPet() (response, error) {
	id, err := strconv.ParseInt(x.param, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != x.param { // an ID has one form: 01 and +1 are not IDs
		return response{}, errPetID
	}
	body, err := x.h.encoded.AppendPet(x.ctx, x.buffer(), id)
	if err != nil {
		return response{}, err
	}
	return x.serveRead(body)
}

// deprecate adds the header fields of RFC 9745 and RFC 8594, and a link to the
// operation that replaces this one.
func (x *exchange) deprecate() {
	h := x.w.Header()
	h["Deprecation"], h["Sunset"] = deprecationValues, sunsetValues
	h.Add("Link", `<../pets>; rel="successor-version"`)
}

// encoder is the EncodedReader of a Service without one.
type encoder struct {
	petstore.Service
}

func (e encoder) Encodes(s petstore.Service) bool { return s == e.Service }

func (e encoder) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	pet, err := e.GetPet(ctx, id)
	if err != nil {
		return dst, err
	}
	return checked(pet.AppendJSON(dst))
}

func (e encoder) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	page, err := e.ListPets(ctx, q)
	if err != nil {
		return dst, "", err
	}
	dst, err = checked(page.AppendJSON(dst))
	return dst, page.Next, err
}

// checked returns the result of an encoding. A value that cannot be encoded is
// the service's fault, not the client's.
func checked(body []byte, err error) ([]byte, error) {
	if err != nil {
		return body, &petstore.Error{Code: petstore.CodeInternal, Err: err}
	}
	return body, nil
}
