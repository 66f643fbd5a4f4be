//go:build linux

package faulttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// ledger is what was acknowledged. A name stands for what was sent.
type ledger struct {
	after    int64                             // the pets up to this ID are not compared
	sent     func(name string) petstore.NewPet // what was sent
	pets     map[int64]string                  // names by ID
	messages map[string]string                 // names by ID
}

func newLedger(sent func(name string) petstore.NewPet) ledger {
	return ledger{sent: sent, pets: map[int64]string{}, messages: map[string]string{}}
}

// later is how many pets check adds: one for each meta page.
const later = 2

func (l ledger) len() int { return len(l.pets) + len(l.messages) }

// check compares the store at path with the ledger. Everything that was
// acknowledged must be there once, as it was sent. Then the store must accept
// changes, and be sound after them. check removes all messages and adds later
// pets. It returns the names of everything else that was there, and how many pets
// and messages there were.
func (l ledger) check(t *testing.T, what, path string) (extra []string, pets, messages int64) {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil, 0, 0
	}
	stats, err := s.Stats(t.Context())
	extra, e := l.compare(t.Context(), s)
	err = errors.Join(err, e)
	for range later {
		_, e := s.CreatePet(t.Context(), petstore.NewPet{Name: "later", CategoryID: 1}, petstore.Once{})
		err = errors.Join(err, e)
	}
	err = errors.Join(err, s.Close())
	err = errors.Join(err, storage.Check(path, func(err error) { t.Errorf("%s: %v", what, err) }))
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return extra, stats.Pets, stats.QueuedMessages
}

// compare compares the ledger with a store, and removes its messages. It returns
// the names of the pets and messages that were not acknowledged.
func (l ledger) compare(ctx context.Context, s *storage.Store) (extra []string, err error) {
	var errs []error
	there := map[string]bool{} // names
	found := 0
	compare := func(id any, acked string, ok bool, text string, same func(name string) bool) {
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
	q := petstore.ListQuery{Limit: 100}
	if l.after > 0 {
		q.After = petstore.CursorAfter(l.after)
	}
	for more := true; more; more = q.After != "" {
		page, err := s.ListPets(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, p := range page.Pets {
			acked, ok := l.pets[p.ID]
			compare(p.ID, acked, ok, p.Name, func(name string) bool { return p.NewPet == l.sent(name) })
		}
		q.After = page.Next
	}
	for {
		messages, err := s.QueuedMessages(ctx, petstore.MaxQueueLimit)
		if err != nil {
			return nil, err
		}
		if len(messages) == 0 {
			break
		}
		var ids []string
		for _, m := range messages {
			acked, ok := l.messages[m.ID]
			compare(m.ID, acked, ok, m.Text, func(name string) bool { return m.Text == l.sent(name).Name })
			ids = append(ids, m.ID)
		}
		if err := s.RemoveMessages(ctx, ids...); err != nil {
			return nil, err
		}
	}
	if found < l.len() {
		errs = append(errs, fmt.Errorf("%d of %d acknowledged pets and messages are missing", l.len()-found, l.len()))
	}
	return extra, errors.Join(errs...)
}
