package history

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"example.com/animalstore/petstore"
)

// Pets returns all pets of a store, in the order of their IDs.
func Pets(ctx context.Context, s petstore.Service) (pets []petstore.Pet, err error) {
	for q := (petstore.ListQuery{Limit: petstore.MaxLimit}); ; {
		page, err := s.ListPets(ctx, q)
		pets = append(pets, page.Pets...)
		if q.After = page.Next; err != nil || q.After == "" {
			return pets, err
		}
	}
}

// Check returns an error unless the history is linearizable. stored are all pets that
// the store has in the end, in the order of their IDs, and queued all its messages.
//
// The store has only changed from n pets to n+1. So Check looks for a moment of each
// creation that is not before the one of the pet before it, and such that at some moment
// of each operation there were the pets in its response.
func (h *History) Check(stored []petstore.Pet, queued []petstore.Message) error {
	ids := map[string]int{}
	for i, p := range stored {
		switch {
		case p.ID != int64(i)+1 || ids[p.Name] != 0:
			return fmt.Errorf("pet %d is %+v; pet %d has that name", i+1, p, ids[p.Name])
		case p.CategoryID != 1 || p.Status != petstore.StatusSold:
			return fmt.Errorf("%+v was not sent", p)
		}
		ids[p.Name] = i + 1
	}
	n := len(stored) + 2
	called := slices.Repeat([]time.Duration{math.MaxInt64}, n) // by ID: the first call that creates the pet
	there := slices.Repeat([]time.Duration{math.MaxInt64}, n)  // when the pet was there at the latest
	missing := make([]time.Duration, n)                        // when it was still missing
	for _, op := range h.ops {
		if op.Message != "" {
			continue
		}
		id := ids[op.Create]
		called[id] = min(called[id], op.call)
		if op.status == lost {
			continue
		}
		least, most := op.counts(stored, id)
		if least > most {
			return fmt.Errorf("status %d, %+v in response to %+v", op.status, op.pets, op.Request)
		}
		there[least] = min(there[least], op.end)
		missing[most+1] = max(missing[most+1], op.call)
	}
	moment := time.Duration(0)
	for id := 1; id <= len(stored); id++ {
		if called[id] == math.MaxInt64 {
			return fmt.Errorf("%+v is stored, but was not sent or was refused", stored[id-1])
		}
		if moment = max(moment, called[id], missing[id]); moment > there[id] {
			return fmt.Errorf("the pet %d was created after %v, but it was there at %v", id, moment, there[id])
		}
	}
	return h.checkMessages(queued)
}

func (h *History) checkMessages(queued []petstore.Message) error {
	byText, sent := map[string]petstore.Message{}, map[string]bool{}
	for _, m := range queued {
		if first, found := byText[m.Text]; found {
			return fmt.Errorf("%+v is in the queue twice, first as %+v", m, first)
		}
		byText[m.Text] = m
	}
	for _, op := range h.ops {
		sent[op.Message] = true
		if op.Message != "" && op.status != lost && (op.status != http.StatusAccepted || op.message != byText[op.Message]) {
			return fmt.Errorf("status %d, %+v in response to %+v; the queue has %+v", op.status, op.message, op.Request, byText[op.Message])
		}
	}
	for text, m := range byText {
		if !sent[text] {
			return fmt.Errorf("%+v is in the queue, but was not sent or was refused", m)
		}
	}
	return nil
}

// counts returns how many of the stored pets there were, at least and at most, at the
// moment of an operation with a response. If no number explains the response, least is
// higher than most. id is that of the pet that the operation creates.
func (op operation) counts(stored []petstore.Pet, id int) (least, most int) {
	all := len(stored)
	from := op.After // the first of the pets in the response is stored[from]
	switch {
	case op.Create != "" && op.status == http.StatusCreated:
		from, least, most = id-1, id, all
	case op.Get != 0 && op.status == http.StatusNotFound:
		return 0, min(op.Get-1, all)
	case op.Get != 0 && op.status == http.StatusOK:
		from, least, most = op.Get-1, op.Get, all
	case op.Create != "" || op.status != http.StatusOK:
		return 1, 0
	case op.more && len(op.pets) == op.Limit:
		least, most = op.After+op.Limit+1, all
	case op.more || len(op.pets) > op.Limit:
		return 1, 0
	case len(op.pets) == 0:
		return 0, min(op.After, all)
	default:
		least, most = op.After+len(op.pets), op.After+len(op.pets)
	}
	if from < 0 || from+len(op.pets) > all || !slices.Equal(op.pets, stored[from:from+len(op.pets)]) {
		return 1, 0
	}
	return least, most
}
