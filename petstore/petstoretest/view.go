package petstoretest

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/animalstore/petstore"
)

// view is a store as a difficult server shows it.
type view struct {
	petstore.Service
	ids        bool // with other IDs
	order      bool // lists in another order
	shortPages bool
}

// Multiplication by an odd number, modulo 2^64, gives each ID another one. The second
// number reverses the first.
const (
	spread   = 0x9E3779B97F4A7C15
	unspread = 0xF1DE83E19937733D
)

func (v *view) shown(pet petstore.Pet) petstore.Pet {
	if v.ids {
		pet.ID = int64(uint64(pet.ID) * spread)
	}
	return pet
}

// CreatePet implements [petstore.Service].
func (v *view) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	pet, err := v.Service.CreatePet(ctx, p, key)
	return v.shown(pet), err
}

// GetPet implements [petstore.Service].
func (v *view) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if v.ids {
		id = int64(uint64(id) * unspread)
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
	after, err := q.After.ID()
	if err != nil {
		return page, err
	}
	pets, err := v.all(ctx, q.Status)
	if err != nil {
		return page, err
	}
	place := func(id int64) uint64 { // in the list
		if v.order {
			return bits.Reverse64(uint64(id) * spread)
		}
		return uint64(id)
	}
	slices.SortFunc(pets, func(a, b petstore.Pet) int { return cmp.Compare(place(a.ID), place(b.ID)) })
	if after != 0 {
		pets = slices.DeleteFunc(pets, func(p petstore.Pet) bool { return place(p.ID) <= place(after) })
		if v.shortPages {
			q.Limit = 1 + int(place(after)%uint64(q.Limit))
		}
	}
	if len(pets) > q.Limit {
		pets = pets[:q.Limit]
		page.Next = petstore.CursorAfter(pets[q.Limit-1].ID)
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

// showsPets reports whether the response has at least n pets.
func showsPets(n int) func(*exchange, *rand.Rand) bool {
	return func(x *exchange, _ *rand.Rand) bool {
		return x.done && strings.HasPrefix(x.path, "/pets") && strings.Count(string(x.response), `"id":`) >= n
	}
}
