package conformance

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// largeList is the size in bytes from which on a target may end a list early.
const largeList = 1 << 20

// listing is the longest list that the target returns.
type listing struct {
	x    *probe.Exchange
	pets []pet

	// complete says that no other pet matches: the list is shorter than the
	// limit and has no link to a further page.
	complete bool
}

// allPets is the path of the longest list with that status ("": with any).
func allPets(status string) string {
	if status == "" {
		return "/pets?limit=100"
	}
	return "/pets?limit=100&status=" + status
}

// listing requests the pets with that status ("": with any).
func (t *tester) listing(status string) (listing, error) {
	const failed = "the list cannot be read"
	x, err := t.get(allPets(status))
	if err != nil {
		return listing{}, err
	}
	if x.Status != 200 {
		return listing{}, asUndecided(t.wrongStatus(x, "200", "a list is requested"), failed)
	}
	elements, err := readList(x)
	if err != nil {
		return listing{}, asUndecided(err, failed)
	}
	l := listing{x: x, pets: guessList(x)}
	l.complete = len(elements) < 100 && len(l.pets) == len(elements) && len(x.Body) < largeList && !hasNext(x)
	return l, nil
}

// hasNext reports whether x has a link to a further page (RFC 8288). The
// contract neither requires nor forbids one.
func hasNext(x *probe.Exchange) bool {
	return slices.ContainsFunc(x.Header.Values("Link"), func(v string) bool {
		return strings.Contains(strings.ToLower(strings.ReplaceAll(v, `"`, "")), "rel=next")
	})
}

func (l listing) find(id int64) (pet, bool) {
	return find(l.pets, func(p pet) bool { return p.ID == id })
}

// comparePet returns a violation if l does not show a pet as it was added.
func (l listing) comparePet(added pet) error {
	found, _ := l.find(added.ID)
	err := added.compare(l.x, found, "the list does not show the pet as it was added")
	if err != nil {
		return violationf(l.x, "%v%s", err, showElements(l.x, added.ID))
	}
	return nil
}

// listingWith returns the list of the pet's status, which must have the pet, and
// the pet. If other clients have added more pets since than the list shows, it
// looks for another pet, just added.
func (t *tester) listingWith(added pet) (listing, pet, error) {
	const tries = 3
	for try := 1; added.Status != ""; try++ {
		l, err := t.listing(added.Status)
		if err != nil {
			return l, added, err
		}
		if _, ok := l.find(added.ID); ok {
			return l, added, nil
		}
		if l.complete {
			return l, added, violationf(l.x, "the list of all %d pets with status %s does not have the pet that was added with the id %d", len(l.pets), added.Status, added.ID)
		}
		if try == tries || !t.showsNew(l, added.Status) {
			break
		}
		if added, err = t.add(added.Status); err != nil {
			return l, added, err
		}
	}
	return listing{}, added, undecidedf("the store has more pets than a list can show")
}

// showsNew reports whether a list with that status has a pet that it did not
// have at the start.
func (t *tester) showsNew(l listing, status string) bool {
	before := listing{pets: guessList(t.s.start[status])}
	return slices.ContainsFunc(l.pets, func(now pet) bool {
		_, ok := before.find(now.ID)
		return !ok
	})
}

// getList requests a list, which must have the status 200, and returns its
// elements.
func (t *tester) getList(query string) (*probe.Exchange, []jsontext.Value, error) {
	x, err := t.get("/pets" + query)
	if err != nil {
		return nil, nil, err
	}
	if err := t.wantStatus(x, 200, "the query is valid"); err != nil {
		return nil, nil, err
	}
	elements, err := readList(x)
	return x, elements, asUndecided(err, "there is no list")
}

// requestList returns a response with a list, for a check that does not test its
// status.
func (t *tester) requestList(r probe.Request) (*probe.Exchange, error) {
	x, err := t.do(r)
	if err == nil && x.Status != 200 {
		err = asUndecided(t.wrongStatus(x, "200", "a list is requested"), "there is no list")
	}
	return x, err
}
