package conformance_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
)

// store is what the variants of this package change.
type store = testserver.Double

// creates changes every new pet before it is stored.
func creates(change func(*petstore.NewPet)) func(*store) {
	return func(s *store) {
		create := s.DoCreatePet
		s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			change(&n)
			return create(ctx, n, key)
		}
	}
}

// lists changes what lists show: change gets all pets that match a query. A list
// has the first of the pets that change returns.
func lists(change func([]petstore.Pet) []petstore.Pet) func(*store) {
	return func(s *store) {
		list := s.DoListPets
		s.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
			limit := q.Limit
			var all []petstore.Pet
			for {
				page, err := list(ctx, q)
				if err != nil {
					return page, err
				}
				all = append(all, page.Pets...)
				if q.After, q.Limit = page.Next, petstore.MaxLimit; q.After == "" {
					all = change(all)
					return petstore.Page{Pets: all[:min(limit, len(all))]}, nil
				}
			}
		}
	}
}

// first makes every list end at n pets.
func first(n int) func(*store) {
	return lists(func(all []petstore.Pet) []petstore.Pet { return all[:min(n, len(all))] })
}

// late is a store that shows a pet in lists a while after it was added.
func late(d time.Duration) func(*store) {
	return func(s *store) {
		var added sync.Map // the times by id
		create := s.DoCreatePet
		s.DoCreatePet = func(ctx context.Context, n petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
			p, err := create(ctx, n, key)
			added.Store(p.ID, time.Now())
			return p, err
		}
		lists(func(all []petstore.Pet) []petstore.Pet {
			return slices.DeleteFunc(all, func(p petstore.Pet) bool {
				at, ok := added.Load(p.ID)
				return !ok || time.Since(at.(time.Time)) < d
			})
		})(s)
	}
}
