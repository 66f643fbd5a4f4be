package conformance

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// How many pets a run adds at least. A list shows at most 100.
const (
	manyPets     = 132
	manyOfStatus = 24 // more than the default limit
)

// run sends everything, phase by phase. What a phase needs of the target's state, such
// as lists that show every pet, is there when it begins.
func (s *sender) run() {
	for _, phase := range []struct {
		send  func()
		reads bool // it sends only GET, or sees to that itself
	}{
		{s.listsAtStart, true},
		{s.firstPets, false},
		{s.wrongRequests, true},
		{s.concurrentRequests, false},
		{s.unusualValues, false},
		{s.fillUp, false},
		{s.lookAgain, false},
		{s.listLimits, true},
		{s.loneSurrogate, false},
	} {
		if s.ctx.Err() != nil {
			return
		}
		if phase.reads || !s.opts.ReadOnly {
			phase.send()
		}
	}
}

// listsAtStart requests lists, before the run adds anything.
func (s *sender) listsAtStart() {
	s.each(3, func(i int) { s.get(allPets(statuses()[i]).path()) })
	old := s.seen().atStart[allPets("")]
	s.each(min(5, len(old)), func(i int) { s.get(petPath(old[i].ID)) })
}

// firstPets adds the first pets, one after the other.
func (s *sender) firstPets() {
	s.first()
	first := []string{"/pets", allPets("available").path(), allPets("pending").path(), allPets("sold").path()} // some are empty
	s.each(len(first), func(i int) { s.get(first[i]) })
	if s.messages {
		s.send(submitText(s.name(), meaning{}))
	}
	s.began = time.Now()
	// A pet without a status must not get the one of the request before.
	var created []*probe.Exchange
	for _, status := range []string{"available", "pending", "sold", "sold", "pending", "available"} { // not in turn, as a default may be
		created = append(created, s.send(addPet(s.pet(status), meaning{})), s.send(addPet(s.pet(""), meaning{after: status})))
	}
	// Nor a pet without a name the name.
	body, _ := s.fill(`{"categoryId":$C}`)
	s.send(post(opCreate, body, meaning{what: "no name", breaks: "pets.create.400.required"}))
	s.each(len(created), func(i int) { s.getAdded(created[i]) })
	// An id that got 404 may be assigned to a pet later.
	if id, ok := addedID(s.create(s.pet("sold"), meaning{})); ok {
		s.each(4, func(i int) { s.get(petPath(id + 1 + int64(i))) })
		s.create(s.pet("sold"), meaning{})
	}
	s.lists()
}

// first adds the first pet, and so finds a category that the target accepts. The
// contract does not say whether a category must exist.
func (s *sender) first() {
	candidates := []int64{s.anyCategory()}
	if s.opts.Category != nil {
		candidates = []int64{*s.opts.Category}
	} else {
		for _, old := range s.seen().atStart[allPets("")] {
			if !slices.Contains(candidates, old.Category) && len(candidates) < 6 {
				candidates = append(candidates, old.Category)
			}
		}
		candidates = append(candidates, 1)
	}
	for i, category := range candidates {
		s.category = category
		if x := s.create(s.pet("available"), meaning{}); x.Status != http.StatusBadRequest {
			s.anyAccepted = i == 0 && s.opts.Category == nil && x.Succeeded()
			return
		}
	}
}

// anyCategory returns one that a target with a list of categories can hardly know.
func (s *sender) anyCategory() int64 { return 100_000_000 + rand.Int64N(900_000_000) }

// anID returns the id of a pet that the target has, or else 1.
func (s *sender) anID() int64 {
	h := s.seen()
	if pets := h.creations(); len(pets) > 0 {
		return pets[0].pet.ID
	}
	if pets := h.atStart[allPets("")]; len(pets) > 0 {
		return pets[0].ID
	}
	return 1
}

// concurrentRequests sends requests that may disturb each other.
func (s *sender) concurrentRequests() {
	s.each(24, func(i int) { s.create(s.pet(append(statuses(), "")[i%4]), meaning{}) })
	pets := s.seen().creations()
	if len(pets) == 0 {
		return
	}
	s.each(24, func(i int) {
		some := pets[i%len(pets)]
		if i%4 == 0 {
			s.create(s.pet(statuses()[i%3]), meaning{})
		}
		s.get(petPath(some.pet.ID))
		status := some.sent.Status
		if i%2 == 0 {
			status = "" // a list that shows every new pet
		}
		s.get(allPets(status).path())
		if i%4 == 0 {
			s.send(probe.Get(petPath(some.pet.ID)).With(probe.Credential{}))
		}
	})
	// A name that another pet has, in lower or upper case.
	same := meaning{what: "the name of another pet", arguable: "pets.create.same-name.accepted"}
	n := s.pet("sold")
	id, _ := addedID(s.create(n, meaning{}))
	otherCase := n
	otherCase.Name = strings.ToUpper(n.Name)
	s.create(n, same)
	s.create(otherCase, meaning{what: "the name of another pet, in upper case", arguable: same.arguable})
	s.get(petPath(id)) // another may have replaced it
	n = s.pet("")
	s.each(2, func(int) { s.create(n, same) })
	if s.messages {
		text := s.name()
		s.each(16, func(i int) {
			if i%2 == 0 {
				s.send(submitText(text, meaning{what: "the text of another message", free: true}))
			} else {
				s.send(submitText(s.name(), meaning{}))
			}
		})
	}
}

// fillUp adds pets until there are more than a list can show.
func (s *sender) fillUp() {
	count := map[string]int{}
	pets := s.seen().creations()
	for _, x := range pets {
		count[x.stored().Status]++
	}
	if len(pets) == 0 {
		return
	}
	var missing []newPet
	for _, status := range statuses() {
		for range max(0, manyOfStatus-count[status]) {
			missing = append(missing, s.pet(status))
		}
	}
	for i := range max(0, manyPets-len(pets)-len(missing)) {
		missing = append(missing, s.pet(append(statuses(), "")[i%4]))
	}
	s.each(len(missing), func(i int) { s.create(missing[i], meaning{}) })
}

// listLimits requests lists with limits. If one is shorter than it may be, it may be late,
// and listLimits requests all again when none may be late any more.
func (s *sender) listLimits() {
	began := time.Now()
	s.limits()
	if slices.ContainsFunc(s.seen().all, func(x *exchange) bool { return x.query != nil && x.isList() && x.Sent.After(began) && x.isIncomplete() }) {
		probe.Sleep(s.ctx, listPatience)
		s.limits()
	}
}

func (s *sender) limits() {
	var requests []probe.Request
	add := func(q listQuery) { requests = append(requests, probe.Get(q.path())) }
	for _, limit := range []int{1, 2, 19, 20, 21, 50, 99} {
		add(listQuery{"", limit})
	}
	for _, status := range statuses() {
		for _, limit := range []int{1, 2, 3, 20} {
			add(listQuery{status, limit})
		}
	}
	// Escapes of letters and digits mean the same (RFC 3986, section 6.2.2.2).
	requests = append(requests, probe.Get("/pets?limit=10%30&status=s%6Fld"), probe.Get("/pets?lim%69t=%33"))
	typed := probe.Get("/pets") // some clients say the type of a body that they do not send
	typed.ContentType = "application/json"
	requests = append(requests, typed)
	s.all(requests)
	// A list without a limit must not have the limit of the request before. It is
	// compared with those before and after it.
	pages := func(status string) {
		for _, limit := range []int{100, 0, 20} {
			s.get(listQuery{status, limit}.path())
		}
	}
	pages("")
	s.each(3, func(i int) { pages(statuses()[i]) })
	none := []string{"101", "1000", "0", "-1", "", "99999999999999999999", "1&limit=1000"} // no list may have more than 100 pets
	s.each(len(none), func(i int) { s.get("/pets?limit=" + none[i]) })
}

// lookAgain looks at what may have changed with time, more than a second after the first
// pet was added.
func (s *sender) lookAgain() {
	h := s.seen()
	pets := h.creations()
	if len(pets) > 0 {
		s.create(s.pet("sold"), meaning{})
		probe.Sleep(s.ctx, time.Until(s.began.Add(aWhile)))
	}
	s.lists()
	some := pets[:min(12, len(pets))]
	s.each(len(some), func(i int) { s.get(petPath(some[i].pet.ID)) })
	if !s.messages {
		return
	}
	// The clocks of several servers may differ, and a clock may be corrected.
	for range 3 {
		s.send(submitText(s.name(), meaning{}))
		x := s.seen().recordBefore(time.Now())
		if x == nil {
			return
		}
		if _, wrong := x.wrongLater(); wrong == "" {
			return
		}
		probe.Sleep(s.ctx, aWhile)
	}
}

// loneSurrogate adds a pet whose name is an escape without a character, as the last one:
// some targets store it, and then fail for every list. It sends nothing if the check of
// that is not selected.
func (s *sender) loneSurrogate() {
	if !s.selected[surrogateCheck] || s.ctx.Err() != nil {
		return
	}
	body, _ := s.fill(`{"name":"\ud800","categoryId":$C,"status":"available"}`)
	s.send(post(opCreate, body, meaning{what: "an unpaired surrogate as the name", breaks: surrogateCheck}))
	for _, q := range []listQuery{{}, allPets(""), allPets("available")} { // the last one may be short enough to have it
		s.get(q.path())
	}
}
