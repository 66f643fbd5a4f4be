package conformance

import (
	"fmt"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// wrongRequests sends requests that the target must refuse, or may.
func (s *sender) wrongRequests() {
	var requests []probe.Request
	for _, q := range badQueries {
		requests = append(requests, probe.Get("/pets?"+q))
	}
	id := s.anID()
	for _, missing := range append(missingIDs, -id, id+1_000_003) {
		requests = append(requests, probe.Get(petPath(missing)))
	}
	for _, form := range append(notIDs, plus(id, 1, 64), plus(id, 1, 32), plus(id, -1, 64)) {
		requests = append(requests, probe.Get("/pets/"+strings.ReplaceAll(form, "$I", fmt.Sprint(id))))
	}
	requests = append(requests, probe.Get("/nothing-here"), probe.Get(s.missingPath()),
		probe.Get("/pets?limit=0&status=lost").With(probe.Credential{}), probe.Get(s.missingPath()).With(probe.Credential{}),
		probe.Get("/pets").With(probe.LowerScheme()))
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get("/pets") })...)
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get(petPath(id)) })...)
	if !s.opts.ReadOnly {
		requests = append(requests, s.wrongPosts()...)
	}
	s.all(requests)
	// A response to a request with the key must not be that to one without it.
	same := []probe.Request{probe.Get(petPath(id)), probe.Get(allPets("available").path())}
	if s.messages && !s.opts.ReadOnly {
		same = append(same, probe.PostMessage(messageBody(s.name())))
	}
	s.each(len(same), func(i int) {
		s.send(same[i].With(probe.Credential{}))
		s.send(same[i])
		s.send(same[i].With(probe.Credential{}))
	})
	if !s.opts.ReadOnly {
		s.lists()
	}
}

func (s *sender) wrongPosts() []probe.Request {
	var requests []probe.Request
	post := func(of func(body string) probe.Request, bodies ...string) {
		for _, body := range bodies {
			r := of(s.fill(body))
			if body == "" {
				r.Body = nil
			}
			requests = append(requests, r)
		}
	}
	pet := func(body string) probe.Request { return probe.Post("/pets", body) }
	post(pet, wrongPets...)
	post(pet, badBodies()...)
	requests = append(requests, probe.Post("/pets", `{"name":`).With(probe.Credential{}))
	requests = append(requests, s.badKeys(func() probe.Request { return pet(s.pet("available").json()) })...)
	if !s.messages {
		return requests
	}
	post(probe.PostMessage, wrongMessages...)
	post(probe.PostMessage, badBodies()...)
	noType := probe.PostMessage(messageBody(s.name()))
	noType.ContentType = ""
	requests = append(requests, noType, probe.PostMessage(`{"message":`).With(probe.Credential{}), probe.PostMessage(messageBody(s.name())).With(probe.LowerScheme()))
	return append(requests, s.badKeys(func() probe.Request { return probe.PostMessage(messageBody(s.name())) })...)
}

// badKeys returns requests with each bad credential.
func (s *sender) badKeys(request func() probe.Request) []probe.Request {
	var requests []probe.Request
	for _, c := range append(probe.BadCredentials(), probe.NotASCII()) {
		if c.Differs(s.client.Key) {
			requests = append(requests, request().With(c))
		}
	}
	return requests
}
