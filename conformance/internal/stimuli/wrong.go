package stimuli

import (
	"fmt"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// mustRefuse is the intent of a POST that the target must not accept, by a check.
func mustRefuse(what, check string) probe.Intent {
	return probe.Intent{Unusual: what, FailsCheck: check}
}

// wrongRequests sends requests that the target must refuse, or may.
func (s *session) wrongRequests() {
	id := s.anID()
	requests := s.unusualPaths(id)
	requests = append(requests,
		probe.Get("/pets?limit=0&status=lost").With(probe.Credential{}),
		probe.Get(s.missingPath()).With(probe.Credential{}),
		probe.Get("/pets").With(probe.LowerScheme()),
		probe.Get("/pets").With(probe.WordAfterKey()))
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get("/pets") })...)
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get(probe.PetPath(id)) })...)
	requests = append(requests, s.wrongPosts()...)
	s.all(requests)
	// A response to a request with the key must not be that to one without it.
	same := []probe.Request{
		probe.Get(probe.PetPath(id)),
		probe.Get(probe.LongestList("available").Path()),
		probe.SubmitText(s.name(), probe.Intent{}),
	}
	s.each(len(same), func(i int) {
		s.send(same[i].With(probe.Credential{}))
		s.send(same[i])
		s.send(same[i].With(probe.Credential{}))
	})
	s.longestLists()
}

// unusualPaths returns GET requests with unusual paths and queries. id is that of a pet.
func (s *session) unusualPaths(id int64) []probe.Request {
	requests := []probe.Request{probe.Get("/nothing-here"), probe.Get(s.missingPath())}
	for _, q := range unusualQueries {
		requests = append(requests, probe.Get("/pets?"+q))
	}
	for _, missing := range append(missingIDs, -id, id+1_000_003) {
		requests = append(requests, probe.Get(probe.PetPath(missing)))
	}
	for _, notID := range append(notIDs, plus(id, 1, 64), plus(id, 1, 32), plus(id, -1, 64)) {
		requests = append(requests, probe.Get("/pets/"+strings.ReplaceAll(notID, "$I", fmt.Sprint(id))))
	}
	for _, spelling := range spellings(id) {
		r := probe.Get("/pets/" + spelling)
		r.Intent = probe.Intent{Unusual: "the id " + spelling, Spelled: id}
		if id > 0 {
			requests = append(requests, r)
		}
	}
	return requests
}

// wrongPosts returns POST requests with wrong bodies and credentials.
func (s *session) wrongPosts() []probe.Request {
	var requests []probe.Request
	add := func(op string, tables ...wrongBodies) {
		for _, t := range tables {
			for _, row := range t.rows {
				requests = append(requests, probe.Post(op, s.fill(row.body), mustRefuse(row.what, t.check)))
			}
		}
		cut := probe.Post(op, `{"name":`, mustRefuse("a body that is cut short", tables[0].check))
		requests = append(requests, cut.With(probe.Credential{}))
	}
	add(probe.CreatePet, wrongPets...)
	requests = append(requests, s.badKeys(func() probe.Request {
		return probe.AddPet(s.pet("available"), probe.Intent{})
	})...)

	add(probe.SubmitMessage, wrongMessages...)
	message := func() probe.Request { return probe.SubmitText(s.name(), probe.Intent{}) }
	requests = append(requests, s.badKeys(message)...)
	requests = append(requests, message().With(probe.LowerScheme()), message().With(probe.WordAfterKey()))
	noType := message()
	noType.ContentType, noType.Intent = "", mustRefuse("no Content-Type", "messages.400.content-type")
	form := probe.Post(probe.SubmitMessage, "message="+s.name(),
		mustRefuse("a form as its body, and says so", "messages.form"))
	form.ContentType = "application/x-www-form-urlencoded"
	return append(requests, noType, form)
}

// badKeys returns requests with each bad credential.
func (s *session) badKeys(request func() probe.Request) []probe.Request {
	var requests []probe.Request
	for _, c := range append(probe.BadCredentials(s.Key), probe.NotASCII()...) {
		requests = append(requests, request().With(c))
	}
	return requests
}
