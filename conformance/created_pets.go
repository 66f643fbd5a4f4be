package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// created is what a run has created so far.
type created struct {
	pets     []addedPet
	messages int
	lost     bool // see gaveUp
	hangs    int  // see sendLate
}

// addedPet is a pet of the run as it must be in the store.
type addedPet struct {
	pet
	x     *probe.Exchange // its creation
	valid bool            // its request was valid, so that the contract says how it must be
}

// recordCreated records what x created, whichever check sent it.
func (s *session) recordCreated(x *probe.Exchange) {
	if x.Request.Method != http.MethodPost || !x.Succeeded() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Request.Messages {
		s.created.messages++
		return
	}
	got, err := guessPet(x)
	if err != nil {
		return
	}
	added := addedPet{pet: got, x: x}
	if sent := validPet(x.Request.Body); sent != nil {
		added.valid, added.pet = true, sent.stored(got)
	}
	for i, other := range s.created.pets {
		if other.ID == got.ID {
			// It is not known which of the two has the id.
			s.created.pets[i].valid, added.valid = false, false
		}
	}
	s.created.pets = append(s.created.pets, added)
}

// hasCreated reports whether this run created the pet with that id.
func (s *session) hasCreated(id int64) bool {
	return slices.ContainsFunc(s.addedPets(), func(p addedPet) bool { return p.ID == id })
}

// addedPets returns the pets that the run has added so far.
func (s *session) addedPets() []addedPet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.created.pets)
}

// oldPets returns the pets with that status ("": with any) that the target listed before
// the run added any.
func (s *session) oldPets(status string) []pet {
	x := s.start[status]
	if x == nil || x.Status != http.StatusOK {
		return nil
	}
	return slices.Clone(s.listingOf(x).pets)
}

// newest returns the id of the pet that the run added last.
func (t *tester) newest() int64 {
	t.firstPet()
	pets := t.s.addedPets()
	return pets[len(pets)-1].ID
}

// countPets returns how many pets with that status ("": with any) the target has at
// least: those that it listed at the start and those that the run added.
func (s *session) countPets(status string) int {
	n := len(s.oldPets(status))
	for _, p := range s.addedPets() {
		if p.has(status) {
			n++
		}
	}
	return n
}

// lacks returns the pets that l, a list with that status and the limit 100, lacks
// though they were added before it was requested. A list that may end early lacks
// none.
func (s *session) lacks(l listing, status string) []addedPet {
	if !l.complete {
		return nil
	}
	known := len(s.oldPets(status))
	var lacks []addedPet
	for _, p := range s.addedPets() {
		switch {
		case !p.has(status) || p.x.Sent.After(l.x.Received):
			continue
		case p.valid && p.x.Received.Before(l.x.Sent) && !l.has(p.ID):
			lacks = append(lacks, p)
		}
		known++
	}
	if known >= 100 { // a target may return fewer than the limit, and there is no other way to see them all
		return nil
	}
	return lacks
}

// lacksPet reports whether the pet with that id is one that l lacks.
func (s *session) lacksPet(l listing, status string, id int64) bool {
	return slices.ContainsFunc(s.lacks(l, status), func(p addedPet) bool { return p.ID == id })
}

// firstResponse is the response to the first pet that a run adds.
type firstResponse struct {
	x *probe.Exchange

	// anyCategory: the target accepts an arbitrary category, so it does not
	// refuse others because they are unknown.
	anyCategory bool
}

// firstResponse adds a pet, once for all checks, and so finds a category that the
// target accepts. The contract does not say whether a category must exist.
func (t *tester) firstResponse() firstResponse {
	return share(t, "first-pet", func(t *tester) firstResponse {
		arbitrary := t.arbitraryCategory()
		candidates := []int64{arbitrary}
		named := t.s.opts.Category
		if named != nil {
			candidates = []int64{*named}
		} else {
			for _, old := range t.s.oldPets("") {
				if old.Category != 1 && !slices.Contains(candidates, old.Category) && len(candidates) < 6 {
					candidates = append(candidates, old.Category)
				}
			}
			candidates = append(candidates, 1)
		}
		var x *probe.Exchange
		for _, category := range candidates {
			x = t.post(newPet{t.name(), category, "available"})
			if x.Status == http.StatusBadRequest {
				continue
			}
			t.wantSuccess(x)
			return firstResponse{x, category == arbitrary || named != nil && t.acceptsCategory(arbitrary)}
		}
		if named != nil {
			t.wrongStatus(x, "201", "a valid pet of category %d is added", *named)
		}
		unavailable(x, "the target refuses every valid pet with 400 (of the categories %s); if it knows only certain categories, name one of them",
			strings.Trim(fmt.Sprint(candidates), "[]"))
		return firstResponse{}
	})
}

func (t *tester) arbitraryCategory() int64 { return int64(100_000_000 + t.random().IntN(900_000_000)) }

// acceptsCategory reports whether the target accepts a pet of that category.
func (t *tester) acceptsCategory(category int64) bool {
	x, e := t.try(probe.Post("/pets", newPet{t.name(), category, "available"}.json()))
	return e == nil && x.Succeeded()
}

// first is firstResponse for a check that does not test the status.
func (t *tester) first() firstResponse { return need("no pet could be created", t.firstResponse) }

// firstPet returns the first pet of the run.
func (t *tester) firstPet() pet {
	x := t.first().x
	return pet{ID: need("no pet could be created", func() int64 { return readAnyPet(x).ID }), newPet: sentPet(x)}
}

// newPet returns a valid pet with a name of its own.
func (t *tester) newPet(status string) newPet {
	return newPet{t.name(), t.firstPet().Category, status}
}

// post sends n to POST /pets.
func (t *tester) post(n newPet) *probe.Exchange { return t.do(probe.Post("/pets", n.json())) }

// wantSuccess ends the check if x, the response to a valid pet, is not 2xx.
func (t *tester) wantSuccess(x *probe.Exchange) {
	if !x.Succeeded() {
		t.wrongStatus(x, "201", "a valid pet is added")
	}
}

// create adds n for a check that does not test creation, and returns the pet as
// it must be in the store.
func (t *tester) create(n newPet) pet {
	return need("a pet could not be created", func() pet {
		x := t.post(n)
		t.wantSuccess(x)
		return n.stored(readAnyPet(x))
	})
}

// add adds a valid pet with a name of its own.
func (t *tester) add(status string) pet { return t.create(t.newPet(status)) }

// samples returns four pets of this run: one with each status and one that was
// added without.
func (t *tester) samples() []pet {
	return share(t, "samples", func(t *tester) []pet {
		var pets []pet
		for _, status := range append(statuses(), "") {
			pets = append(pets, t.add(status))
		}
		return pets
	})
}

// addSamples adds the samples unless the run is read-only.
func (t *tester) addSamples() {
	if !t.s.opts.ReadOnly {
		t.samples()
	}
}

// stock adds pets with that status ("": with any) until the target has n, and
// ends the check if that is not possible.
func (t *tester) stock(status string, n int) {
	share(t, fmt.Sprintf("stock-%s%d", status, n), func(t *tester) bool {
		if !t.s.opts.ReadOnly {
			t.addMissing(status, n)
		}
		return true
	})
	if have := t.s.countPets(status); have < n {
		inconclusive("the check needs %d pets, and the target shows %d", n, have)
	}
}

func (t *tester) addMissing(status string, n int) {
	t.firstPet()
	// One check at a time, so that no more pets are added than needed.
	t.s.stocking.Lock()
	defer t.s.stocking.Unlock()
	missing := n - t.s.countPets(status)
	t.parallel(max(missing, 0), t.s.opts.Parallel, func(t *tester, i int) {
		if status != "" {
			t.add(status)
		} else {
			t.add(append(statuses(), "")[i%4])
		}
	})
}
