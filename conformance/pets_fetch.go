package conformance

import (
	"fmt"
	"net/http"
	"strconv"
)

func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// aPet returns the id of a pet that the target holds: the caller's,
// one of this run, or one from the list.
func (p *probe) aPet() (int64, error) {
	if p.s.opts.Pet != nil {
		return *p.s.opts.Pet, nil
	}
	if !p.s.opts.ReadOnly {
		sup, err := p.supply()
		if err != nil {
			return 0, asUndecided(err, "no pet could be created")
		}
		return sup.first.ID, nil
	}
	for _, found := range p.s.start.all.guessList() {
		return found.ID, nil
	}
	return 0, undecidedf("no pet is known: the list was empty when the run began")
}

// fetched is a pet's id and what fetching it was answered with.
type fetched struct {
	id int64
	x  *exchange
}

// fetch fetches a pet that the target holds, once for all checks.
func (p *probe) fetch() (fetched, error) {
	return once(p, "fetch", func(p *probe) (fetched, error) {
		id, err := p.aPet()
		if err != nil {
			return fetched{}, err
		}
		x, err := p.get(petPath(id))
		return fetched{id, x}, err
	})
}

// getRemoved reports whether the target has removed GET /pets/{petId}, from
// the day on for which that is scheduled.
func (p *probe) getRemoved() (bool, error) {
	if p.s.opts.Now().Before(removalBegins()) {
		return false, nil
	}
	f, err := p.fetch()
	if err != nil {
		return false, err
	}
	return f.x.status == http.StatusNotFound || f.x.status == http.StatusGone, nil
}

// single returns the answer with a single pet, for checks of what is in
// it.
func (p *probe) single() (fetched, error) {
	f, err := p.fetch()
	if err != nil {
		return f, asUndecided(err, "there is no pet to fetch")
	}
	if err := p.stillThere(); err != nil {
		return f, err
	}
	if f.x.status != 200 {
		return f, undecidedf("fetching the pet %d gets %s", f.id, f.x.statusLine())
	}
	return f, nil
}

func (p *probe) stillThere() error {
	gone, err := p.getRemoved()
	if err != nil {
		return asUndecided(err, "there is no pet to fetch")
	}
	if gone {
		return undecidedf("the operation was removed, as scheduled")
	}
	return nil
}

// missing asks for a pet that there is not, once for all checks. No store
// holds enough pets for a random id of 62 bits to be one.
func (p *probe) missing() (*exchange, error) {
	return once(p, "missing", func(p *probe) (*exchange, error) {
		return p.get(petPath(1<<62 | p.random().Int64N(1<<62)))
	})
}

// notFetched says what is wrong with the answer x to fetching a pet that
// was there. One that this run did not make may have been removed meanwhile.
func (p *probe) notFetched(id int64, x *exchange) error {
	fault := p.want(x, 200, fmt.Sprintf("the pet %d is in the store", id))
	if p.s.opts.Pet != nil && *p.s.opts.Pet == id || p.s.created(id) {
		return fault
	}
	for _, status := range append([]string{""}, statuses()...) {
		l, err := p.listing(status)
		if err != nil {
			return err
		}
		if _, ok := l.find(id); ok {
			return fault
		}
	}
	return undecidedf("the pet %d, listed when the run began, is not listed any more", id)
}
