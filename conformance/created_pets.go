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
	byID     map[int64]bool
	repeated *probe.Exchange // the last response with an id of an earlier one; nil: none
	byStatus map[string]int  // how many pets; "": all
	left     LeftBehind
}

// recordCreated records what x created, whichever check sent it.
func (s *Session) recordCreated(x *probe.Exchange) {
	if x.Request.Method != http.MethodPost || !x.Succeeded() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Request.Messages {
		s.created.left.Messages++
		return
	}
	p, err := readBody(x, "", guessPet)
	if err != nil {
		return
	}
	if s.created.byID[p.ID] {
		s.created.repeated = x
	}
	s.created.byID[p.ID] = true
	s.created.left.Pets = append(s.created.left.Pets, p.ID)
	s.created.byStatus[""]++
	if p.Status != "" {
		s.created.byStatus[p.Status]++
	}
}

// hasCreated reports whether this run created the pet with that id.
func (s *Session) hasCreated(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.created.byID[id]
}

// countPets returns how many pets with that status ("": with any) the target has at
// least: those that it listed at the start and those that the run added.
func (s *Session) countPets(status string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(guessList(s.start[status])) + s.created.byStatus[status]
}

// firstPet is the first pet that a run created.
type firstPet struct {
	x   *probe.Exchange
	pet pet

	// anyCategory says that the target accepts an arbitrary category. If it
	// refuses another one, that is not because the category is unknown.
	anyCategory bool
}

// firstPet creates a pet, once for all checks, and so finds a category that the
// target accepts. The contract does not say whether a target refuses unknown
// categories, so refusing one is not a violation. If the target refuses every
// category that can be found, the check cannot tell anything.
func (t *tester) firstPet() (firstPet, error) {
	return share(t, "first-pet", func(t *tester) (firstPet, error) {
		arbitrary := int64(100_000_000 + t.random().IntN(900_000_000))
		named := t.s.opts.Category
		candidates := []int64{arbitrary}
		if named != nil {
			candidates = []int64{*named}
		} else {
			for _, old := range guessList(t.s.start[""]) {
				if old.Category != 1 && !slices.Contains(candidates, old.Category) && len(candidates) < 6 {
					candidates = append(candidates, old.Category)
				}
			}
			candidates = append(candidates, 1)
		}
		var x *probe.Exchange
		for _, category := range candidates {
			n := newPet{t.name(), category, "available"}
			var err error
			if x, err = t.post(n); err != nil {
				return firstPet{}, err
			}
			if x.Status == http.StatusBadRequest {
				continue
			}
			if !x.Succeeded() {
				return firstPet{}, t.wrongStatus(x, "201", "a valid pet is added")
			}
			first := firstPet{x: x, anyCategory: category == arbitrary}
			if named != nil {
				first.anyCategory = t.acceptsCategory(arbitrary)
			}
			got, err := readBody(x, "the body is not a Pet: ", guessPet)
			first.pet = pet{got.ID, n}
			return first, err
		}
		if named != nil {
			return firstPet{}, t.wrongStatus(x, "201", fmt.Sprintf("a valid pet of category %d is added", *named))
		}
		return firstPet{}, unavailablef(x, "the target refuses every valid pet with 400 (of the categories %s); if it knows only certain categories, name one of them",
			strings.Trim(fmt.Sprint(candidates), "[]"))
	})
}

// acceptsCategory reports whether the target accepts a pet of that category.
func (t *tester) acceptsCategory(category int64) bool {
	x, err := t.post(newPet{t.name(), category, "available"})
	return err == nil && x.Succeeded()
}

// newPet returns a valid pet with a name of its own.
func (t *tester) newPet(status string) (newPet, error) {
	first, err := t.firstPet()
	if err != nil {
		return newPet{}, asUndecided(err, "no pet could be created")
	}
	return newPet{t.name(), first.pet.Category, status}, nil
}

// post sends n to POST /pets.
func (t *tester) post(n newPet) (*probe.Exchange, error) {
	return t.do(probe.Post("/pets", n.json()))
}

// postNew sends a valid pet with a name of its own.
func (t *tester) postNew(status string) (newPet, *probe.Exchange, error) {
	n, err := t.newPet(status)
	if err != nil {
		return n, nil, err
	}
	x, err := t.post(n)
	return n, x, err
}

// create adds n for a check that does not test creation, and returns the pet as
// it must be in the store.
func (t *tester) create(n newPet) (pet, error) {
	const failed = "a pet could not be created"
	x, err := t.post(n)
	if err != nil {
		return pet{}, asUndecided(err, failed)
	}
	if !x.Succeeded() {
		return pet{}, asUndecided(t.wrongStatus(x, "201", "a valid pet is added"), failed)
	}
	got, err := readBody(x, "the body is not a Pet: ", guessPet)
	if err != nil {
		return pet{}, asUndecided(err, failed)
	}
	if n.Status == "" {
		n.Status = got.Status // the contract leaves a default open
	}
	return pet{got.ID, n}, nil
}

// add adds a valid pet with a name of its own.
func (t *tester) add(status string) (pet, error) {
	n, err := t.newPet(status)
	if err != nil {
		return pet{}, err
	}
	return t.create(n)
}

// samples returns four pets of this run: one with each status and one that was
// added without.
func (t *tester) samples() ([]pet, error) {
	return share(t, "samples", func(t *tester) ([]pet, error) {
		var pets []pet
		for _, status := range append(statuses(), "") {
			added, err := t.add(status)
			if err != nil {
				return nil, err
			}
			pets = append(pets, added)
		}
		return pets, nil
	})
}

// addSamples adds the samples unless the run is read-only.
func (t *tester) addSamples() error {
	if t.s.opts.ReadOnly {
		return nil
	}
	_, err := t.samples()
	return err
}

// stock adds pets with that status ("": with any) until the target has n.
func (t *tester) stock(status string, n int) error {
	_, err := share(t, fmt.Sprintf("stock-%s%d", status, n), func(t *tester) (struct{}, error) {
		if t.s.opts.ReadOnly {
			return struct{}{}, nil
		}
		if _, err := t.firstPet(); err != nil {
			return struct{}{}, asUndecided(err, "no pet could be created")
		}
		// One check at a time, so that no more pets are added than needed.
		t.s.stocking.Lock()
		defer t.s.stocking.Unlock()
		missing := n - t.s.countPets(status)
		return struct{}{}, t.parallel(max(missing, 0), t.s.opts.Parallel, func(t *tester, i int) error {
			with := status
			if with == "" {
				with = append(statuses(), "")[i%4]
			}
			_, err := t.add(with)
			return err
		})
	})
	if err != nil {
		return err
	}
	if have := t.s.countPets(status); have < n {
		return undecidedf("the check needs %d pets, and the target shows %d", n, have)
	}
	return nil
}
