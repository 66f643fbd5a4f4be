package petstoretest

import (
	"cmp"
	"context"
	"slices"

	"example.com/animalstore/petstore"
)

// view is a store as a difficult server shows it. A nil function changes
// nothing.
type view struct {
	petstore.Service

	// id returns the ID to show for an ID of the store. It is its own inverse.
	id func(int64) int64

	// order compares two pets as slices.SortFunc does. It determines the order of
	// lists.
	order func(a, b petstore.Pet) int

	// limit returns the limit to use for a page after the first, instead of the
	// client's. after is the ID of the last pet before the page.
	limit func(limit int, after int64) int
}

func (v *view) shown(pet petstore.Pet) petstore.Pet {
	if v.id != nil {
		pet.ID = v.id(pet.ID)
	}
	return pet
}

// CreatePet implements [petstore.Service].
func (v *view) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	pet, err := v.Service.CreatePet(ctx, p, once)
	return v.shown(pet), err
}

// GetPet implements [petstore.Service].
func (v *view) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if v.id != nil {
		id = v.id(id)
	}
	pet, err := v.Service.GetPet(ctx, id)
	return v.shown(pet), err
}

// ListPets implements [petstore.Service]. It reads all pets of the store. A cursor
// contains the store's ID of the last pet of a page.
func (v *view) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, err
	}
	pets, err := v.all(ctx, q.Status)
	if err != nil {
		return page, err
	}
	order := func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) }
	if byID := order; v.order != nil {
		order = func(a, b petstore.Pet) int { return cmp.Or(v.order(a, b), byID(a, b)) }
	}
	slices.SortFunc(pets, order)
	if q.After != "" {
		id, err := q.After.ID()
		if err != nil {
			return page, err
		}
		last, err := v.Service.GetPet(ctx, id)
		if petstore.CodeOf(err) == petstore.CodeNotFound {
			err = petstore.Errorf(petstore.CodeInvalid, "cursor: must be one that this service returned")
		}
		if err != nil {
			return page, err
		}
		i, found := slices.BinarySearchFunc(pets, last, order)
		if found {
			i++
		}
		pets = pets[i:]
		if v.limit != nil {
			q.Limit = v.limit(q.Limit, id)
		}
	}
	if len(pets) > q.Limit {
		pets = pets[:q.Limit]
		page.Next = petstore.CursorAfter(pets[len(pets)-1].ID)
	}
	for i := range pets {
		pets[i] = v.shown(pets[i])
	}
	page.Pets = pets
	return page, nil
}

// all returns the pets of the store with that status.
func (v *view) all(ctx context.Context, status petstore.Status) ([]petstore.Pet, error) {
	var pets []petstore.Pet
	q := petstore.ListQuery{Limit: petstore.MaxLimit, Status: status}
	for {
		page, err := v.Service.ListPets(ctx, q)
		if err != nil {
			return nil, err
		}
		pets = append(pets, page.Pets...)
		if q.After = page.Next; q.After == "" {
			return pets, nil
		}
	}
}
