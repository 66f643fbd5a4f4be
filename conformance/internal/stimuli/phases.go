package stimuli

import (
	"fmt"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// How many pets a run adds at least. A list shows at most 100.
const (
	manyPets     = 132
	manyOfStatus = 24 // more than the default limit
)

// ListPatience is how long a list may lack a new pet. A run waits for as long once, and again at
// the end if a list lacks a pet.
const ListPatience = 2 * time.Second

// phases sends everything.
func (s *session) phases() {
	for _, phase := range []func(){
		s.listsAtStart,
		// There are fewer pets than a list can have.
		s.firstPets,
		s.unusualValues,
		s.waitAndLook, // by now the lists must have them all
		s.wrongRequests,
		s.concurrentRequests,
		s.unusualClients,
		// There are more.
		s.fillUp,
		s.limits,
		s.lookAgain,
		s.loneSurrogate,
		s.sendUnserved,
	} {
		phase()
		if s.Enough != nil && s.Enough(s.result()) {
			return
		}
	}
}

// lookAgain waits and looks once more if a list lacks a pet.
func (s *session) lookAgain() {
	if s.lack() {
		s.waitAndLook()
	}
}

// lack reports whether a list lacks a pet that the run has added: it may come later.
func (s *session) lack() bool {
	for _, status := range probe.Statuses() {
		list := probe.ReadList(s.get(probe.LongestList(status).Path()))
		missing := func(p probe.Pet) bool { return p.Status == status && !probe.HasID(list.Pets, p.ID) }
		if len(list.Pets) < 100 && !list.More && slices.ContainsFunc(s.pets(), missing) {
			return true
		}
	}
	return false
}

// sendUnserved sends the requests that were not served once more: the target may have been out of
// service for a moment. Lists show whether it still responds.
func (s *session) sendUnserved() {
	s.mu.Lock()
	unserved := s.unserved
	s.mu.Unlock()
	for _, x := range unserved {
		if s.ctx.Err() == nil {
			s.client.Again(s.ctx, x)
		}
	}
	s.longestLists()
}

// listsAtStart requests lists, before the run adds anything.
func (s *session) listsAtStart() {
	s.longestLists()
	s.each(min(5, len(s.old)), func(i int) { s.get(probe.PetPath(s.old[i].ID)) })
}

// firstPets adds the first pets, one after the other.
func (s *session) firstPets() {
	s.findCategory()
	s.get("/pets")
	s.longestLists() // some are empty
	s.send(probe.SubmitText(s.name(), probe.Intent{}))
	// A pet without a status must not get the one of the request before.
	var created []*probe.Exchange
	// They are not in turn, as a default may be.
	for _, status := range []string{"available", "pending", "sold", "sold", "pending", "available"} {
		created = append(created,
			s.send(probe.AddPet(s.pet(status), probe.Intent{})),
			s.send(probe.AddPet(s.pet(""), probe.Intent{After: status})))
	}
	// Nor a pet without a name the name.
	s.send(probe.Post(probe.CreatePet, s.fill(`{"categoryId":$C}`), mustRefuse("no name", "pets.create.400.required")))
	s.each(len(created), func(i int) { s.getAdded(created[i]) })
	// An ID that got 404 may be assigned to a pet later.
	if id, ok := s.create(s.pet("sold"), probe.Intent{}).AddedID(); ok {
		s.each(4, func(i int) { s.get(probe.PetPath(id + 1 + int64(i))) })
		s.create(s.pet("sold"), probe.Intent{})
	}
	s.longestLists()
}

// findCategory adds the first pet, and so finds a category that the target accepts: the
// contract does not say which categories there are. It ends the run if it finds none.
func (s *session) findCategory() {
	candidates := []int64{s.category}
	if s.Category == nil {
		for _, old := range s.old {
			if !slices.Contains(candidates, old.Category) && len(candidates) < 6 {
				candidates = append(candidates, old.Category)
			}
		}
		candidates = append(candidates, 1)
	}
	var last *probe.Exchange
	for _, category := range candidates {
		s.category = category
		last = s.create(s.pet("available"), s.anyCategoryIntent())
		for tries := 0; tries < 8 && !last.Served() && !s.ReadOnly; tries++ { // it may be out of service for a moment
			probe.Sleep(s.ctx, 250*time.Millisecond)
			last = s.create(s.pet("available"), s.anyCategoryIntent())
		}
		if last.Succeeded() {
			return
		}
	}
	if s.Category == nil && last.Refused() {
		s.stop(fmt.Errorf("the target refuses every pet, the last with %s %s; name a category that it accepts (-category)",
			last.StatusLine(), probe.Cut(string(last.Body), 200)))
	}
}

// anyCategoryIntent is the intent of a pet with a category that the target may not know.
func (s *session) anyCategoryIntent() probe.Intent {
	if s.Category != nil {
		return probe.Intent{}
	}
	return probe.Intent{MayRefuse: probe.With4xx}
}

// waitAndLook looks at what may have changed with time, and at the oldest pets.
func (s *session) waitAndLook() {
	if len(s.pets()) > 0 {
		probe.Sleep(s.ctx, ListPatience+100*time.Millisecond)
	}
	s.longestLists()
	s.getOldest()
	s.send(probe.SubmitText(s.name(), probe.Intent{}))
}

// getOldest gets the first pets that the run has added.
func (s *session) getOldest() {
	pets := s.pets()
	s.each(min(12, len(pets)), func(i int) { s.get(probe.PetPath(pets[i].ID)) })
}

// concurrentRequests sends requests that may disturb each other.
func (s *session) concurrentRequests() {
	anyStatus := append(probe.Statuses(), "")
	s.each(16, func(i int) { s.create(s.pet(anyStatus[i%4]), probe.Intent{}) })
	pets := s.pets()
	if len(pets) == 0 {
		return
	}
	s.each(24, func(i int) {
		path := probe.PetPath(pets[i%len(pets)].ID)
		if i%4 == 0 {
			s.create(s.pet(probe.Statuses()[i%3]), probe.Intent{})
		}
		s.get(path)
		s.get(probe.LongestList(anyStatus[i%4]).Path())
		if i%4 == 0 {
			s.send(probe.Get(path).With(probe.Credential{}))
		}
	})
	text := s.name()
	same := probe.Intent{Unusual: "the text of another message", MayRefuse: probe.With4xx}
	s.each(16, func(i int) {
		if i%2 == 0 {
			s.send(probe.SubmitText(text, same))
		} else {
			s.send(probe.SubmitText(s.name(), probe.Intent{}))
		}
	})
}

// fillUp adds pets until there are more than a list can show.
func (s *session) fillUp() {
	pets := s.pets()
	if len(pets) == 0 {
		return
	}
	count := map[string]int{}
	for _, p := range pets {
		count[p.Status]++
	}
	var missing []probe.NewPet
	for _, status := range probe.Statuses() {
		for range manyOfStatus - count[status] {
			missing = append(missing, s.pet(status))
		}
	}
	anyStatus := append(probe.Statuses(), "")
	for i := range manyPets - len(pets) - len(missing) {
		missing = append(missing, s.pet(anyStatus[i%4]))
	}
	s.each(len(missing), func(i int) { s.create(missing[i], probe.Intent{}) })
}

// limits requests lists with limits.
func (s *session) limits() {
	var requests []probe.Request
	add := func(q probe.ListQuery) { requests = append(requests, probe.Get(q.Path())) }
	for _, limit := range []int{1, 2, 10, 19, 20, 21, 50, 99} {
		add(probe.ListQuery{Limit: limit})
	}
	for _, status := range probe.Statuses() {
		for _, limit := range []int{1, 2, 3, 20} {
			add(probe.ListQuery{Status: status, Limit: limit})
		}
	}
	for _, limit := range tooLargeLimits { // no list may have more than 100 pets
		requests = append(requests, probe.Get("/pets?limit="+limit))
	}
	for _, spelling := range spellings(7) {
		r := probe.Get("/pets?limit=" + spelling)
		r.Intent = probe.Intent{Unusual: "the limit " + spelling, Spelled: 7}
		requests = append(requests, r)
	}
	requests = append(requests, escapedQueries()...)
	requests = append(requests, probe.Get("/pets?status=sold&limit=3")) // the others have the limit first
	// Some clients say the type of a body that they do not send.
	typed := probe.Get("/pets")
	typed.ContentType = "application/json"
	typed.Intent.Unusual = "a Content-Type and no body"
	requests = append(requests, typed)
	s.all(requests)
	s.getOldest()
	// A list without a limit must not have the limit of the request before. It is compared with
	// lists whose limit is 20.
	statuses := append(probe.Statuses(), "")
	s.each(len(statuses), func(i int) {
		for _, limit := range []int{20, 0, 100, 0} {
			s.get(probe.ListQuery{Status: statuses[i], Limit: limit}.Path())
		}
	})
}

// loneSurrogate adds a pet whose name is an escape without a character, as the last one:
// some targets store it, and then fail for every list.
func (s *session) loneSurrogate() {
	if !s.Surrogate {
		return
	}
	body := s.fill(`{"name":"\ud800","categoryId":$C,"status":"available"}`)
	s.send(probe.Post(probe.CreatePet, body, mustRefuse("an unpaired surrogate as the name", "pets.create.surrogate")))
	s.get("/pets")
	s.get(probe.LongestList("").Path())
	s.get(probe.LongestList("available").Path()) // which may be short enough to have it
}
