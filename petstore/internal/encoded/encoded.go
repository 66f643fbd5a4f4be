// Package encoded lets package httpapi read pets as JSON from a store that keeps them so,
// rather than decode them and encode them again.
package encoded

import (
	"context"

	"example.com/animalstore/petstore"
)

// Reader reads pets as JSON. Its methods append to dst exactly the bytes of
// petstore.Pet.AppendJSON and petstore.Page.AppendJSON for the result of GetPet and
// ListPets. They return the same errors, and on an error dst as it was.
type Reader interface {
	AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error)
	AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error)
}

// Of returns the Reader of a store, or nil if it has none.
//
// A store that has one has a method Encoded, which returns the Reader if it is called with
// the store itself. A type that embeds the store has this method too, but may read in
// another way: for it, Encoded returns nil.
func Of(s petstore.Service) Reader {
	if e, ok := s.(interface{ Encoded(petstore.Service) Reader }); ok {
		return e.Encoded(s)
	}
	return nil
}
