package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/animalstore/petstore"
)

// listPets is the operation of section 4.1 of the contract. A Link field leads to
// the next page (RFC 8288); the body stays a bare array.
func (h *handler) listPets(ctx context.Context, r *http.Request) (response, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return response{}, err
	}
	buffer := buffers.Get().(*[16 << 10]byte)
	body, next, err := h.pets.AppendPage(ctx, buffer[:0], q)
	if err != nil {
		return response{}, err
	}
	resp := response{status: http.StatusOK, body: body, free: func() { buffers.Put(buffer) }}
	if next != "" {
		// A reference that is only a query is right under every prefix (RFC 3986, section 5.2.2).
		status := ""
		if q.Status != "" {
			status = "&status=" + string(q.Status)
		}
		link := "<?limit=" + strconv.Itoa(q.Limit) + status + "&cursor=" + url.QueryEscape(string(next)) + `>; rel="next"`
		resp.header = headerField{"Link", []string{link}}
	}
	return resp, nil
}

// parseListQuery returns what a query string asks of listPets. It ignores unknown parameters.
// Without the map of url.ParseQuery, a list with a status costs 4 % fewer instructions.
func parseListQuery(query string) (q petstore.ListQuery, err error) {
	names := [...]string{"limit", "status", "cursor"}
	var values [len(names)]string // "": not given
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		i := slices.Index(names[:], name)
		switch {
		case strings.Contains(part, ";"):
			return q, invalid("query: malformed: a semicolon must be written as %%3B")
		case err1 != nil || err2 != nil:
			return q, invalid("query: malformed: %v", cmp.Or(err1, err2))
		case i < 0:
			continue
		case values[i] != "":
			return q, invalid("%s: must be given only once", name)
		case value == "": // which stands for none in the model
			return q, invalid("%s: must not be empty", name)
		}
		values[i] = value
	}
	if limit := values[0]; limit != "" {
		n, err := strconv.ParseUint(limit, 10, 64)
		if err != nil || n < 1 || n > petstore.MaxLimit || limit[0] == '0' { // as an ID, it has one form
			return q, invalid("limit: must be an integer from 1 to %d, in its shortest form", petstore.MaxLimit)
		}
		q.Limit = int(n)
	}
	q.Status = petstore.Status(values[1])
	q.After = petstore.Cursor(values[2]) // which the service checks
	return q.Normalize()
}

// createPet is the operation of section 4.2 of the contract.
func (h *handler) createPet(ctx context.Context, r *http.Request) (response, error) {
	newPet, key, err := readRequest(r, h.opts.MaxBodyBytes, Account(ctx), decodeNewPet)
	if err != nil {
		return response{}, err
	}
	if h.opts.Validate != nil {
		if err := h.opts.Validate(ctx, newPet); err != nil {
			return response{}, err
		}
	}
	pet, err := h.service.CreatePet(ctx, newPet, key)
	if err != nil {
		return response{}, err
	}
	body, err := pet.AppendJSON(nil)
	if err != nil {
		return response{}, err
	}
	// Relative to the request's own path, so right under every prefix.
	location := headerField{"Location", []string{"pets/" + strconv.FormatInt(pet.ID, 10)}}
	return response{status: http.StatusCreated, body: body, header: location}, nil
}

// getPet is the operation of section 4.3 of the contract.
func (h *handler) getPet(ctx context.Context, r *http.Request) (response, error) {
	text := strings.TrimPrefix(r.URL.Path, "/pets/")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != text { // an ID has one form: 01 and +1 are not IDs
		return response{}, petstore.Errorf(petstore.CodeNotFound,
			"petId: must be a 64-bit integer in its shortest form, so no pet has this one")
	}
	body, err := h.pets.AppendPet(ctx, nil, id)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: body}, nil
}

// buffers are the bodies of lists that were sent, to be used again. They save 5 % of the
// processor time of a list of 20 pets. After an error or a panic the buffer is not put back.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}
