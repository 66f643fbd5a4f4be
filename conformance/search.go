package conformance

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Longer bodies than this may be pages that a target ends early for their
// size.
const largePage = 1 << 20

// listing is a list of the most pets that one can show.
type listing struct {
	x    *exchange
	pets []pet
	// whole says that nothing else matches: the list is shorter than it might
	// be, and points to no further page.
	whole bool
}

// listing asks for all pets of that status ("": of any).
func (p *probe) listing(status string) (listing, error) {
	path := "/pets?limit=100"
	if status != "" {
		path += "&status=" + url.QueryEscape(status)
	}
	x, err := p.get(path)
	if err != nil {
		return listing{}, err
	}
	l := listing{x: x, pets: x.guessList()}
	if x.status != http.StatusOK {
		return l, asUndecided(p.want(x, 200, "a list is asked for"), "the list cannot be read")
	}
	elements, err := x.list()
	if err != nil {
		return l, asUndecided(err, "the list cannot be read")
	}
	l.whole = len(elements) < 100 && len(l.pets) == len(elements) && !x.cutForSize() && !x.hasNext()
	return l, nil
}

func (x *exchange) cutForSize() bool { return len(x.body) >= largePage }

// hasNext reports whether x points to a further page (RFC 8288), which the
// contract neither asks for nor forbids.
func (x *exchange) hasNext() bool {
	for _, v := range x.header.Values("Link") {
		v = strings.ToLower(strings.ReplaceAll(v, `"`, ""))
		if strings.Contains(v, "rel=next") {
			return true
		}
	}
	return false
}

func (l listing) find(id int64) (pet, bool) {
	i := slices.IndexFunc(l.pets, func(p pet) bool { return p.ID == id })
	if i < 0 {
		return pet{}, false
	}
	return l.pets[i], true
}

// showsAs says what is wrong if l shows a pet otherwise than it was
// added.
func (l listing) showsAs(added pet) error {
	found, _ := l.find(added.ID)
	if diff := added.differs(found); diff != "" {
		return violationf(l.x, "the pet %d in the list is not as it was added: %s%s", added.ID, diff, l.x.showElements(added.ID))
	}
	return nil
}

// inFiltered looks for a pet in the list of its status, and returns the
// list and the pet. Other clients may have added more since than a list of
// the newest shows: then it looks for another one, just added.
func (p *probe) inFiltered(added pet) (listing, pet, error) {
	const tries = 3
	for try := 1; added.Status != ""; try++ {
		l, err := p.listing(added.Status)
		if err != nil {
			return l, added, err
		}
		if _, ok := l.find(added.ID); ok {
			return l, added, nil
		}
		if l.whole {
			return l, added, violationf(l.x, "the list of all %d pets that are %s lacks the one that was added as %d", len(l.pets), added.Status, added.ID)
		}
		if try == tries || !p.showsNew(l, added.Status) {
			break
		}
		if added, err = p.add(added.Status); err != nil {
			return l, added, err
		}
	}
	return listing{}, added, undecidedf("the store holds more pets than a list can show")
}

// showsNew reports whether a list of that status holds a pet that it did
// not when the run began.
func (p *probe) showsNew(l listing, status string) bool {
	before := listing{pets: p.s.start.byStatus[status].guessList()}
	return slices.ContainsFunc(l.pets, func(now pet) bool {
		_, ok := before.find(now.ID)
		return !ok
	})
}

// notStored says what is wrong if a pet of one of those names, each from
// the body of a refused request, is in the store.
func (p *probe) notStored(refused map[string]*exchange) error {
	if len(refused) == 0 {
		return undecidedf("no request was refused")
	}
	sup, err := p.supply() // its pet is older than any refused request
	if err != nil {
		return asUndecided(err, "no pet could be created")
	}
	last, err := p.add("available")
	if err != nil {
		return err
	}
	whole, bracketed := false, false
	for _, status := range append([]string{""}, statuses()...) {
		l, err := p.listing(status)
		if err != nil {
			return err
		}
		for _, found := range l.pets {
			if x := refused[found.Name]; x != nil {
				return violationf(l.x, "the pet %q is in the store, though its creation was answered with %s%s", found.Name, x.statusLine(), l.x.showElements(found.ID))
			}
		}
		_, older := l.find(sup.first.ID)
		_, newer := l.find(last.ID)
		whole = whole || status == "" && l.whole
		bracketed = bracketed || older && newer
	}
	if whole {
		return nil
	}
	dense, err := p.between(sup.first.ID, last.ID, refused)
	if err != nil || dense || bracketed {
		return err
	}
	return p.notStoredAgain(refused)
}

// notStoredAgain sends the refused requests once more, a few at a time, so
// that other clients at work add less in between than can be looked through.
func (p *probe) notStoredAgain(refused map[string]*exchange) error {
	const few, tries = 8, 3
	undecided := undecidedf("the store holds more than a list can show")
	if counts, err := p.idsCount(); err != nil || !counts {
		return cmp.Or(err, undecided)
	}
	refused = maps.Clone(refused)
	for names := range slices.Chunk(slices.Sorted(maps.Keys(refused)), few) {
		dense := false
		for try := 0; try < tries && !dense; try++ {
			first, err := p.add("available")
			if err != nil {
				return err
			}
			for _, name := range names {
				if refused[name] == nil {
					continue
				}
				x, err := p.do(refused[name].req)
				if err != nil {
					return err
				}
				refused[name] = x
				if succeeded(x) { // what it adds is there by right
					delete(refused, name)
				}
			}
			last, err := p.add("available")
			if err != nil {
				return err
			}
			if dense, err = p.between(first.ID, last.ID, refused); err != nil {
				return err
			}
		}
		if !dense {
			return undecided
		}
	}
	return nil
}

// idsCount reports whether two pets added one after the other get ids that
// are near enough to look between them.
func (p *probe) idsCount() (bool, error) {
	a, err := p.add("available")
	if err != nil {
		return false, err
	}
	b, err := p.add("available")
	return near(a.ID, b.ID), err
}

// near reports whether b is above a, with few enough ids in between to fetch
// each of them.
func near(a, b int64) bool {
	const few = 400
	return b > a && b-a > 0 && b-a <= few
}

// between fetches the pets with ids between two of this run's, where there
// are few enough: a store that counts would have put a refused one there.
func (p *probe) between(a, b int64, refused map[string]*exchange) (bool, error) {
	if !near(a, b) {
		return false, nil
	}
	return true, p.parallel(int(b-a-1), p.s.opts.Parallel, func(p *probe, i int) error {
		x, err := p.get("/pets/" + strconv.FormatInt(a+1+int64(i), 10))
		if err != nil || x.status != http.StatusOK {
			return err
		}
		found, err := x.pet()
		if err != nil {
			return nil // for the checks of a single pet
		}
		if was := refused[found.Name]; was != nil {
			return violationf(x, "the pet %q is in the store, though its creation was answered with %s", found.Name, was.statusLine())
		}
		return nil
	})
}
