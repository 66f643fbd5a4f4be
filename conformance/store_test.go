package conformance_test

import (
	"context"

	"example.com/animalstore/petstore"
)

// store is a store whose operations can be replaced.
type store struct {
	list   func(context.Context, petstore.ListQuery) (petstore.Page, error)
	create func(context.Context, petstore.NewPet, petstore.Once) (petstore.Pet, error)
	get    func(context.Context, int64) (petstore.Pet, error)
}

func (s *store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return s.list(ctx, q)
}

func (s *store) CreatePet(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	return s.create(ctx, n, once)
}

func (s *store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) { return s.get(ctx, id) }

// creates changes every new pet before it is stored.
func creates(change func(*petstore.NewPet)) func(*store) {
	return func(s *store) {
		create := s.create
		s.create = func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
			change(&n)
			return create(ctx, n, once)
		}
	}
}

// lists changes what lists show: change gets all pets that match a query. A list
// has the first of the pets that change returns.
func lists(change func([]petstore.Pet) []petstore.Pet) func(*store) {
	return func(s *store) {
		list := s.list
		s.list = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
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

// mappedIDs changes the IDs of pets by a function that is its own inverse.
func mappedIDs(other func(int64) int64) func(*store) {
	return func(s *store) {
		create, get := s.create, s.get
		mapped := func(p petstore.Pet, err error) (petstore.Pet, error) {
			p.ID = other(p.ID)
			return p, err
		}
		s.create = func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
			return mapped(create(ctx, n, once))
		}
		s.get = func(ctx context.Context, id int64) (petstore.Pet, error) { return mapped(get(ctx, other(id))) }
		lists(func(all []petstore.Pet) []petstore.Pet {
			for i := range all {
				all[i].ID = other(all[i].ID)
			}
			return all
		})(s)
	}
}
