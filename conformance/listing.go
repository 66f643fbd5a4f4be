package conformance

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// largeList is the size in bytes from which on a target may end a list early.
const largeList = 1 << 20

// listing is the body of a response to GET /pets.
type listing struct {
	x        *probe.Exchange
	ok       bool // it is a list
	elements []jsontext.Value
	pets     []pet // the elements with an id
	wrong    int   // the index of the first element that is not a Pet
	err      error // what is wrong with that element; nil: all are Pets

	// complete says that the list should have every pet that matches, if its limit
	// was 100: it is shorter and has no link to a further page.
	complete bool
}

// listings are the lists of a run so far.
type listings struct {
	mu       sync.Mutex
	lists    map[*probe.Exchange]listing
	elements elements
}

// elements are the elements of the lists so far, by their JSON. Most lists repeat pets of
// earlier ones.
type elements map[string]element

type element struct {
	value         jsontext.Value
	pet           pet
	noID, invalid error // as those of readMembers
}

// listingOf returns the list in x. It parses each once.
func (s *session) listingOf(x *probe.Exchange) listing {
	s.listings.mu.Lock()
	defer s.listings.mu.Unlock()
	l, ok := s.listings.lists[x]
	if !ok {
		l = s.listings.elements.parseListing(x)
		s.listings.lists[x] = l
	}
	return l
}

// parseListing returns the list in x. If the body is not a list, there are no elements.
func (known elements) parseListing(x *probe.Exchange) listing {
	l := listing{x: x}
	all, err := x.Array()
	for i, v := range all {
		e, ok := known[string(v)]
		if !ok {
			e.value = v
			e.pet, e.noID, e.invalid = readMembers(probe.ParseObject(v))
			known[string(v)] = e
		}
		l.elements = append(l.elements, e.value)
		if e.noID == nil {
			l.pets = append(l.pets, e.pet)
		}
		if err := cmp.Or(e.noID, e.invalid); err != nil && l.err == nil {
			l.wrong, l.err = i, err
		}
	}
	l.ok = err == nil
	l.complete = l.ok && len(l.elements) < 100 && len(l.pets) == len(l.elements) && len(x.Body) < largeList && !hasNext(x)
	return l
}

// listQuery is a query of GET /pets whose meaning the contract states.
type listQuery struct {
	status string // "": absent
	limit  int    // 0: absent
}

// String returns q as it is in a URL.
func (q listQuery) String() string {
	v := make(url.Values)
	if q.limit != 0 {
		v.Set("limit", strconv.Itoa(q.limit))
	}
	if q.status != "" {
		v.Set("status", q.status)
	}
	return strings.TrimSuffix("?"+v.Encode(), "?")
}

// parseQuery returns the query of a request for a list. It returns nil if the contract
// does not say what the query means: String returns no such query, in any order.
func parseQuery(path string) *listQuery {
	_, query, _ := strings.Cut(path, "?")
	parts := strings.Split(query, "&")
	slices.Sort(parts)
	v, _ := url.ParseQuery(query)
	q := &listQuery{status: v.Get("status")}
	q.limit, _ = strconv.Atoi(v.Get("limit"))
	if q.String() != strings.TrimSuffix("?"+strings.Join(parts, "&"), "?") || q.limit < 0 || q.limit > 100 || !slices.Contains(append(statuses(), ""), q.status) {
		return nil
	}
	return q
}

// allPets is the path of the longest list with that status ("": with any).
func allPets(status string) string { return "/pets" + listQuery{status, 100}.String() }

// How long a check waits for a list to show a pet. pets.list.created reports lists
// that are late, so that others need not fail too.
const (
	listPatience = 2 * time.Second
	listInterval = 50 * time.Millisecond
)

// listing requests the pets with that status ("": with any), until the list has
// those of the run.
func (t *tester) listing(status string) listing {
	for {
		l := t.readListing(t.get(allPets(status)))
		lacks := t.s.lacks(l, status)
		lost := slices.ContainsFunc(lacks, func(p addedPet) bool { return l.x.Sent.Sub(p.x.Received) > listPatience })
		if len(lacks) == 0 || t.s.gaveUp(lost) {
			return l
		}
		time.Sleep(listInterval)
	}
}

// eventually calls f until it finds no violation, for as long as a list may be late.
func (t *tester) eventually(f func()) {
	for began := time.Now(); ; time.Sleep(listInterval) {
		tooLong := time.Since(began) > listPatience
		if e := attempt(f); e == nil || e.verdict != Fail || t.s.gaveUp(tooLong) {
			e.end()
			return
		}
	}
}

// gaveUp reports whether the run has waited for a list in vain, now or before. It
// does not wait again.
func (s *session) gaveUp(now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created.lost = s.created.lost || now
	return s.created.lost
}

// getList requests a list, which must have the status 200.
func (t *tester) getList(query string) listing {
	x := t.get("/pets" + query)
	t.wantStatus(x, 200, "the query is valid")
	return t.readListing(x)
}

// readListing returns the list in x, the response to a valid request. If the status is
// not 200 or the body is not a list, the check is inconclusive, and another one reports
// it.
func (t *tester) readListing(x *probe.Exchange) listing {
	assume("there is no list", func() { t.wantStatus(x, 200, "a list is requested") })
	l := t.s.listingOf(x)
	if !l.ok {
		assume("the list cannot be read", func() { readList(x) })
	}
	return l
}

// hasNext reports whether x has a link to a further page (RFC 8288), or another
// field that says how to reach it. The contract neither requires nor forbids one.
func hasNext(x *probe.Exchange) bool {
	for name, values := range x.Header {
		name = strings.ToLower(name)
		if name == "link" && relNext.MatchString(strings.Join(values, ",")) || strings.Contains(name, "next") || strings.Contains(name, "cursor") {
			return true
		}
	}
	return false
}

var relNext = regexp.MustCompile(`(?i)\brel\s*=\s*["']?[^"';,]*\bnext`)

func (l listing) has(id int64) bool { return hasID(l.pets, id) }

// show returns the elements with that id, for the end of a message.
func (l listing) show(id int64) shown {
	all := shown{id: &id}
	for i, v := range l.elements {
		if p, noID, _ := readMembers(probe.ParseObject(v)); noID == nil && p.ID == id {
			all.text += showElement(i, v).text
		}
	}
	return all
}

// wantPets ends the check if an element is not a Pet.
func (l listing) wantPets() {
	if l.err != nil {
		fail(l.x, "the list has an element that is not a Pet: %v%s", misread("a Pet", l.err), showElement(l.wrong, l.elements[l.wrong]))
	}
}

// wantIDs ends the check if two pets have the same id.
func (l listing) wantIDs() {
	if i := duplicate(l.pets, pet.id); i >= 0 {
		id := l.pets[i].ID
		fail(l.x, "two pets in the list have the id %d%s", id, l.show(id))
	}
}

// wantSame ends the check if l does not show a pet as it was added.
func (l listing) wantSame(added pet) {
	found, _ := find(l.pets, func(p pet) bool { return p.ID == added.ID })
	if diff, ok := added.diff(found); !ok {
		fail(l.x, "the list does not show the pet as it was added: %s%s", diff, l.show(added.ID))
	}
}

// tooMany ends the check: the target has more pets than a list can show.
func tooMany() { inconclusive("the store has more pets than a list can show") }

// listingWith returns a list with the status of a pet, and the pet, which the list
// must have. If other clients have added more pets since than a list shows, it adds
// another pet and looks for that one.
func (t *tester) listingWith(added pet) (listing, pet) {
	const tries = 3
	for try := 1; added.Status != ""; try++ {
		l := t.listing(added.Status)
		if l.has(added.ID) {
			return l, added
		}
		if t.s.lacksPet(l, added.Status, added.ID) {
			fail(l.x, "the list of all %d pets with status %s does not have the pet that was added with the id %d", len(l.pets), added.Status, added.ID)
		}
		if try == tries || !t.showsNew(l, added.Status) {
			break
		}
		added = t.add(added.Status)
	}
	tooMany()
	return listing{}, added
}

// showsNew reports whether a list with that status has a pet that it did not
// have at the start.
func (t *tester) showsNew(l listing, status string) bool {
	before := t.s.oldPets(status)
	return slices.ContainsFunc(l.pets, func(now pet) bool { return !hasID(before, now.ID) })
}
