package petjson

import (
	"context"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// Reader reads pets as JSON. Its methods append to dst exactly the bytes of
// petstore.Pet.AppendJSON for the result of GetPet, and an array of these for that of
// ListPets. They return the same errors, and on an error dst as it was. The query is one
// that ListQuery.Normalize has returned.
type Reader interface {
	AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error)
	AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error)
}

// ReaderOf returns the Reader of a store that has one, or one that encodes what GetPet and ListPets
// return.
func ReaderOf(s petstore.Service) Reader {
	if e, ok := s.(interface {
		JSONReader() (petstore.Service, Reader)
	}); ok {
		// A type that embeds the store has its JSONReader too, but may have a GetPet of its own.
		if self, r := e.JSONReader(); self == s {
			return r
		}
	}
	return encoder{s}
}

// GetPet returns the pet that r reads.
func GetPet(ctx context.Context, r Reader, id int64) (pet petstore.Pet, err error) {
	b, err := r.AppendPet(ctx, nil, id)
	if err == nil {
		err = json.Unmarshal(b, &pet)
	}
	return pet, err
}

// ListPets returns the page that r reads. It normalizes q.
func ListPets(ctx context.Context, r Reader, q petstore.ListQuery) (page petstore.Page, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, err
	}
	b, next, err := r.AppendPage(ctx, nil, q)
	if err == nil {
		page.Next = next
		err = json.Unmarshal(b, &page.Pets)
	}
	return page, err
}

// encoder is the Reader of any store.
type encoder struct{ petstore.Service }

func (e encoder) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	pet, err := e.GetPet(ctx, id)
	if err != nil {
		return dst, err
	}
	return pet.AppendJSON(dst)
}

func (e encoder) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	page, err := e.ListPets(ctx, q)
	if err != nil {
		return dst, "", err
	}
	b := append(dst, '[')
	for i, pet := range page.Pets {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = pet.AppendJSON(b); err != nil {
			return dst, "", err
		}
	}
	return append(b, ']'), page.Next, nil
}
