package main

import (
	"errors"
	"fmt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// reads measures gets and lists of a small and of a large store.
func (b *bench) reads() (err error) {
	var small, large *etcdstore.Store
	for _, x := range []struct {
		s **etcdstore.Store
		n int64
	}{{&small, 1000}, {&large, b.pets}} {
		if *x.s, err = b.open(fmt.Sprintf("reads%d/", x.n)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*x.s).Close()) }()
		if err := b.fill(*x.s, x.n, pet); err != nil {
			return err
		}
	}
	if err := b.readsOf(small, 1000); err != nil {
		return err
	}
	return b.readsOf(large, b.pets)
}

// readers is how many goroutines read at the same time.
const readers = 16

// against is what reads are compared with.
const against = "a plain Get of one key"

// plain measures a plain Get of the block that has the pet with that ID.
func (b *bench) plain(prefix string, id int64) side {
	n := (id - 1) / 16
	key := prefix + "p" + string([]byte{0, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	return func() (float64, error) {
		return b.rate(readers, func(int) error {
			resp, err := b.client.Get(b.ctx, key)
			if err == nil && len(resp.Kvs) != 1 {
				err = fmt.Errorf("the key %q is missing", key)
			}
			return err
		})
	}
}

func (b *bench) readsOf(s *etcdstore.Store, n int64) error {
	prefix := fmt.Sprintf("reads%d/", n)
	plain := b.plain(prefix, n/2)
	get := func() (float64, error) {
		return b.rate(readers, func(int) error {
			_, err := s.GetPet(b.ctx, n/2)
			return err
		})
	}
	if _, _, err := b.compare(fmt.Sprintf("get, %d pets", n), against, "≥ 0.85", get, plain); err != nil {
		return err
	}
	return b.pages(s, n, plain, "≥ 0.60",
		page{"first page", "", 0},
		page{"last page", "", n - 20},
		page{"first page of a status", petstore.StatusSold, 0},
		page{"last page of a status", petstore.StatusSold, n - 80})
}

// rare measures lists of a status that one pet in a hundred has, so that no two
// of these pets are in one block.
func (b *bench) rare() error {
	s, err := b.open("rare/")
	if err != nil {
		return err
	}
	defer s.Close()
	n := b.pets / 100 * 100
	err = b.fill(s, n, func(id int64) petstore.Pet {
		p := pet(id)
		if p.Status = petstore.StatusAvailable; id%100 == 0 {
			p.Status = petstore.StatusSold
		}
		return p
	})
	if err != nil {
		return err
	}
	return b.pages(s, n, b.plain("rare/", n/2), "",
		page{"first page of a rare status", petstore.StatusSold, 0},
		page{"last page of a rare status", petstore.StatusSold, n - 2000})
}

// page is a list page.
type page struct {
	name   string
	status petstore.Status
	after  int64 // the ID before it
}

// pages compares list pages of 20 with plain.
func (b *bench) pages(s *etcdstore.Store, n int64, plain side, want string, pages ...page) error {
	for _, page := range pages {
		q := petstore.ListQuery{Status: page.status}
		if page.after > 0 {
			q.After = petstore.CursorAfter(page.after)
		}
		list := func() (float64, error) {
			return b.rate(readers, func(int) error {
				got, err := s.ListPets(b.ctx, q)
				if err == nil && len(got.Pets) != petstore.DefaultLimit {
					err = fmt.Errorf("a page of %d pets", len(got.Pets))
				}
				return err
			})
		}
		name := fmt.Sprintf("list of 20, %s, %d pets", page.name, n)
		if _, _, err := b.compare(name, against, want, list, plain); err != nil {
			return err
		}
	}
	return nil
}
