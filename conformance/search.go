package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Longer bodies than this may be pages that a target ends early for their
// size.
const largePage = 1 << 20

// listing is a list of the most animals that one can show.
type listing struct {
	x    *exchange
	pets []pet
	// whole says that nothing else matches: the list is shorter than it might
	// be, and points to no further page.
	whole bool
}

// listing asks for all animals of that status ("": of any).
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

// notStored says what is wrong if an animal of one of those names, each from
// the body of a refused request, is in the store.
func (p *probe) notStored(refused map[string]*exchange) error {
	if len(refused) == 0 {
		return undecidedf("no request was refused")
	}
	sup, err := p.supply() // its animal is older than any refused request
	if err != nil {
		return asUndecided(err, "no animal could be created")
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
				return violationf(l.x, "the animal %q is in the store, though its creation was answered with %s%s", found.Name, x.statusLine(), l.x.showElements(found.ID))
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
	return undecidedf("the store holds more than a list can show")
}

// between fetches the animals with ids between two of this run's, where there
// are few enough: a store that counts would have put a refused one there.
func (p *probe) between(a, b int64, refused map[string]*exchange) (bool, error) {
	const few = 400
	if b <= a || b-a > few || b-a < 0 {
		return false, nil
	}
	return true, p.parallel(int(b-a-1), p.s.opts.Parallel, func(p *probe, i int) error {
		x, err := p.get("/pets/" + strconv.FormatInt(a+1+int64(i), 10))
		if err != nil || x.status != http.StatusOK {
			return err
		}
		found, err := x.pet()
		if err != nil {
			return nil // for the checks of a single animal
		}
		if was := refused[found.Name]; was != nil {
			return violationf(x, "the animal %q is in the store, though its creation was answered with %s", found.Name, was.statusLine())
		}
		return nil
	})
}
