//go:build linux

package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// pet is the pet that a name stands for. Some are longer than a page.
func pet(name string) petstore.NewPet {
	p := petstore.NewPet{Name: name, CategoryID: int64(len(name))}
	if strings.HasSuffix(name, "9") {
		p.Name += strings.Repeat(" long", 900)
	}
	p.Status = append(petstore.Statuses(), "")[name[len(name)-1]%4]
	return p
}

// petBody is the body that creates the pet of a name.
func petBody(name string) string {
	b, err := json.Marshal(pet(name))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// write returns the path and the body of the request that stores what a name
// stands for: a message if it ends in 3 or 7, otherwise a pet.
func write(name string) (path, body string) {
	if strings.HasSuffix(name, "3") || strings.HasSuffix(name, "7") {
		return "/messages", fmt.Sprintf(`{"message":%q}`, name)
	}
	return "/pets", petBody(name)
}

// ledger is what was acknowledged.
type ledger struct {
	after int64             // the pets up to this ID are not compared
	names map[string]string // of pets and messages, by their IDs in JSON
	twice []string          // names that were acknowledged with the ID of another one
}

func newLedger() ledger { return ledger{names: map[string]string{}} }

// acknowledge adds the pet or message of a response.
func (l *ledger) acknowledge(body []byte) {
	var r struct {
		ID            json.RawMessage
		Name, Message string
	}
	if err := json.Unmarshal(body, &r); err != nil {
		r.Name = string(body) // check reports that the store does not have it
	}
	name, _, _ := strings.Cut(r.Name+r.Message, " ")
	if l.names[string(r.ID)] != "" {
		l.twice = append(l.twice, name)
	}
	l.names[string(r.ID)] = name
}

// later is how many pets check adds: one for each meta page.
const later = 2

// check compares the store at path with the ledger. Everything that was
// acknowledged must be there once, as it was sent. Then the store must accept
// changes, and be sound after them. check removes all messages and adds as many
// pets as later says. It returns the names of pets and messages in the store that
// were not acknowledged, and how many there were of each.
func (l *ledger) check(t *testing.T, what, path string) (extra []string, stats petstore.Stats) {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil, stats
	}
	stats, err = s.Stats(t.Context())
	extra, e := l.compare(t.Context(), s)
	err = errors.Join(err, e)
	for range later {
		_, e := s.CreatePet(t.Context(), petstore.NewPet{Name: "later", CategoryID: 1}, petstore.IdempotencyKey{})
		err = errors.Join(err, e)
	}
	err = errors.Join(err, s.Close(), storage.Check(path))
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if len(l.twice) > 0 {
		t.Errorf("%s: acknowledged with the ID of another one: %q", what, l.twice)
	}
	return extra, stats
}

// compare compares the ledger with a store, and removes its messages. It returns
// the names of the pets and messages that were not acknowledged.
func (l *ledger) compare(ctx context.Context, s *storage.Store) (extra []string, err error) {
	var errs []error
	there := map[string]bool{} // the names in the store
	found := 0
	compare := func(id, name string, same bool) {
		acked, ok := l.names[id]
		switch {
		case !same:
			errs = append(errs, fmt.Errorf("%s is %.50q, which was never sent", id, name))
		case there[name]:
			errs = append(errs, fmt.Errorf("%s is %.50q, which is stored twice", id, name))
		case ok && name != acked:
			errs = append(errs, fmt.Errorf("%s is %.50q, but was acknowledged as %.50q", id, name, acked))
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
			name, _, _ := strings.Cut(p.Name, " ")
			compare(fmt.Sprint(p.ID), name, p.NewPet == pet(name))
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
			path, _ := write(m.Text)
			compare(fmt.Sprintf("%q", m.ID), m.Text, path == "/messages")
			ids = append(ids, m.ID)
		}
		if err := s.RemoveMessages(ctx, ids...); err != nil {
			return nil, err
		}
	}
	if missing := len(l.names) - found; missing > 0 {
		errs = append(errs, fmt.Errorf("%d of %d acknowledged pets and messages are missing", missing, len(l.names)))
	}
	return extra, errors.Join(errs...)
}
