// Package encoded lets package httpapi read pets as JSON from a store that keeps them so,
// rather than decode them and encode them again.
package encoded

import (
	"context"

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

// readers are the functions that Register was called with.
var readers []func(petstore.Service) Reader

// Register makes Of call reader, which returns the Reader of a service of its own type, and
// nil for others: a type that embeds the store may have its own GetPet. It is called by an
// init function.
func Register(reader func(petstore.Service) Reader) { readers = append(readers, reader) }

// Of returns the Reader of a store, or one that encodes what GetPet and ListPets return.
func Of(s petstore.Service) Reader {
	for _, reader := range readers {
		if r := reader(s); r != nil {
			return r
		}
	}
	return encoder{s}
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
