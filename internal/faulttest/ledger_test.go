//go:build linux

package faulttest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// ledger is what was acknowledged. A name stands for what was sent.
type ledger struct {
	pets     map[int64]string  // names by ID
	messages map[string]string // names by ID
}

func newLedger() ledger { return ledger{map[int64]string{}, map[string]string{}} }

func (l ledger) len() int { return len(l.pets) + len(l.messages) }

// petsAfter returns the pets of a store with IDs above id.
func petsAfter(ctx context.Context, s *storage.Store, id int64) (pets []petstore.Pet, err error) {
	q := petstore.ListQuery{Limit: 100}
	if id > 0 {
		q.After = petstore.CursorAfter(id)
	}
	for {
		page, err := s.ListPets(ctx, q)
		if err != nil {
			return nil, err
		}
		pets = append(pets, page.Pets...)
		if q.After = page.Next; q.After == "" {
			return pets, nil
		}
	}
}

// compare compares the pets of a store above an ID, and all messages, which it
// removes, with the ledger. All that was acknowledged must be there, as it was
// sent, and everything once. It returns the names of what else is there, and
// the last ID.
func (l ledger) compare(ctx context.Context, s *storage.Store, after int64, sent func(name string) petstore.NewPet) (extra []string, last int64, err error) {
	var errs []error
	there := map[string]bool{} // names
	found := 0
	check := func(id any, acked string, ok bool, text string, same func(name string) bool) {
		name, _, _ := strings.Cut(text, " ")
		switch {
		case !same(name):
			errs = append(errs, fmt.Errorf("%v is %.50q, which was never sent", id, text))
		case there[name]:
			errs = append(errs, fmt.Errorf("%v is %q, which is there twice", id, name))
		case ok && name != acked:
			errs = append(errs, fmt.Errorf("%v is %q, and was acknowledged as %q", id, name, acked))
		case ok:
			found++
		default:
			extra = append(extra, name)
		}
		there[name] = true
	}
	last = after
	pets, err := petsAfter(ctx, s, after)
	if err != nil {
		return nil, last, err
	}
	for _, p := range pets {
		acked, ok := l.pets[p.ID]
		check(p.ID, acked, ok, p.Name, func(name string) bool { return p.NewPet == sent(name) })
		last = p.ID
	}
	for {
		messages, err := s.QueuedMessages(ctx, petstore.MaxQueueLimit)
		if err != nil {
			return nil, last, err
		}
		if len(messages) == 0 {
			break
		}
		var ids []string
		for _, m := range messages {
			acked, ok := l.messages[m.ID]
			check(m.ID, acked, ok, m.Text, func(name string) bool { return m.Text == sent(name).Name })
			ids = append(ids, m.ID)
		}
		if err := s.RemoveMessages(ctx, ids...); err != nil {
			return nil, last, err
		}
	}
	if found < l.len() {
		errs = append(errs, fmt.Errorf("%d of %d acknowledged pets and messages are missing", l.len()-found, l.len()))
	}
	return extra, last, errors.Join(errs...)
}
