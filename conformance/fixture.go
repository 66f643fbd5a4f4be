package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// keepTrack notes what x created, whoever asked for it and why.
func (s *Session) keepTrack(x *exchange) {
	if x.req.method != http.MethodPost || x.status < 200 || x.status > 299 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.req.messages {
		s.left.Messages++
		return
	}
	v, err := parse(x.body)
	if err != nil {
		return
	}
	if p, err := guessPet(v); err == nil {
		if s.givers[p.ID] != nil {
			s.twice = x
		}
		s.givers[p.ID] = x
		s.left.Pets = append(s.left.Pets, p.ID)
		s.made[""]++
		if p.Status != "" {
			s.made[p.Status]++
		}
	}
}

// created reports whether this run made the pet with that id.
func (s *Session) created(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.left.Pets, id)
}

// atLeast returns how many pets of that status ("": of any) the target
// holds at least: what it listed at the start and what this run added.
func (s *Session) atLeast(status string) int {
	x := s.start.all
	if status != "" {
		x = s.start.byStatus[status]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(x.guessList()) + s.made[status]
}

// supply is what the first creation of a run found out.
type supply struct {
	category int64
	// free says that the target takes an arbitrary category, so that one it
	// refuses is refused for another reason than being unknown.
	free  bool
	first pet
	x     *exchange
}

// supply makes sure that pets can be created and finds a category that the
// target accepts. Whether unknown categories are refused is not stated, so
// refusing one is not held against the target; refusing all that can be
// found, without one being named by the caller, leaves nothing to judge by.
func (p *probe) supply() (supply, error) {
	return once(p, "supply", func(p *probe) (supply, error) {
		arbitrary := int64(100_000_000 + p.random().IntN(900_000_000))
		candidates := []int64{arbitrary}
		if p.s.opts.Category != nil {
			candidates = []int64{*p.s.opts.Category}
		} else {
			seen := map[int64]bool{1: true}
			for _, old := range p.s.start.all.guessList() {
				if !seen[old.Category] && len(candidates) < 6 {
					seen[old.Category] = true
					candidates = append(candidates, old.Category)
				}
			}
			candidates = append(candidates, 1)
		}
		for _, category := range candidates {
			n := newPet{p.name(), category, "available"}
			x, err := p.do(post("/pets", n.json()))
			if err != nil {
				return supply{}, err
			}
			if x.status == http.StatusBadRequest {
				continue
			}
			if x.status < 200 || x.status > 299 {
				return supply{}, p.unwanted(x, "201", "a valid pet is added")
			}
			sup := supply{category: category, free: category == arbitrary, x: x}
			if p.s.opts.Category != nil {
				sup.free = p.takesAny(arbitrary)
			}
			v, err := x.value()
			if err != nil {
				return sup, err
			}
			answered, err := guessPet(v)
			if err != nil {
				return sup, violationf(x, "the body is no Pet: %v", err)
			}
			sup.first = pet{answered.ID, n}
			return sup, nil
		}
		last := p.exchanges[len(p.exchanges)-1]
		if p.s.opts.Category != nil {
			return supply{}, p.unwanted(last, "201", fmt.Sprintf("a valid pet of category %d is added", candidates[0]))
		}
		return supply{}, unavailablef(last, "the target refuses every valid pet with 400 (of categories %s); if it knows certain categories only, name one of them",
			strings.Trim(fmt.Sprint(candidates), "[]"))
	})
}

// takesAny reports whether a pet of an arbitrary category is accepted.
func (p *probe) takesAny(category int64) bool {
	x, err := p.do(post("/pets", newPet{p.name(), category, "available"}.json()))
	return err == nil && x.status >= 200 && x.status <= 299
}

// category returns a category that the target accepts.
func (p *probe) category() (int64, error) {
	sup, err := p.supply()
	if err != nil {
		return 0, asUndecided(err, "no pet could be created")
	}
	return sup.category, nil
}

// create adds a pet for a check that looks at something else than its
// creation, and returns it as it should be kept.
func (p *probe) create(n newPet) (pet, error) {
	x, err := p.do(post("/pets", n.json()))
	if err != nil {
		return pet{}, asUndecided(err, "a pet could not be created")
	}
	if x.status < 200 || x.status > 299 {
		return pet{}, asUndecided(p.unwanted(x, "201", "a valid pet is added"), "a pet could not be created")
	}
	v, err := parse(x.body)
	if err != nil {
		return pet{}, undecidedf("a created pet has no id that can be read: %v", err)
	}
	got, err := guessPet(v)
	if err != nil {
		return pet{}, undecidedf("a created pet has no id that can be read: %v", err)
	}
	if n.Status == "" {
		n.Status = got.Status // whether one is filled in is not stated
	}
	return pet{got.ID, n}, nil
}

// add creates a pet with a name of its own.
func (p *probe) add(status string) (pet, error) {
	category, err := p.category()
	if err != nil {
		return pet{}, err
	}
	return p.create(newPet{p.name(), category, status})
}

// kinds returns four pets of this run: one of each status, and one that
// was added without.
func (p *probe) kinds() ([]pet, error) {
	return once(p, "kinds", func(p *probe) ([]pet, error) {
		var pets []pet
		for _, status := range append(statuses(), "") {
			added, err := p.add(status)
			if err != nil {
				return nil, err
			}
			pets = append(pets, added)
		}
		return pets, nil
	})
}

// someOfEach makes sure that there are pets of every kind, where the run
// may create any.
func (p *probe) someOfEach() error {
	if p.s.opts.ReadOnly {
		return nil
	}
	_, err := p.kinds()
	return err
}

// stock brings the target to hold at least n pets of that status ("": of
// any), adding only what is missing.
func (p *probe) stock(status string, n int) error {
	_, err := once(p, fmt.Sprintf("stock-%s%d", status, n), func(p *probe) (struct{}, error) {
		if p.s.opts.ReadOnly {
			return struct{}{}, nil
		}
		if _, err := p.category(); err != nil {
			return struct{}{}, err
		}
		// One at a time, so that no more are added than it takes.
		p.s.stocking.Lock()
		defer p.s.stocking.Unlock()
		missing := n - p.s.atLeast(status)
		return struct{}{}, p.parallel(max(missing, 0), p.s.opts.Parallel, func(p *probe, i int) error {
			with := status
			if with == "" { // all kinds, so that filters have something to do
				with = append(statuses(), "")[i%4]
			}
			_, err := p.add(with)
			return err
		})
	})
	if err != nil {
		return err
	}
	if have := p.s.atLeast(status); have < n {
		return undecidedf("it takes %d pets to tell, and the target shows %d", n, have)
	}
	return nil
}
