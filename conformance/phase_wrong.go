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
		probe.Get("/pets").With(probe.LowerScheme()), probe.Get("/pets").With(probe.WordAfterKey()))
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get("/pets") })...)
	requests = append(requests, s.badKeys(func() probe.Request { return probe.Get(petPath(id)) })...)
	if !s.opts.ReadOnly {
		requests = append(requests, s.wrongPosts()...)
	}
	s.all(requests)
	// A response to a request with the key must not be that to one without it.
	same := []probe.Request{probe.Get(petPath(id)), probe.Get(allPets("available").path())}
	if s.messages && !s.opts.ReadOnly {
		same = append(same, submitText(s.name(), meaning{}))
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
	add := func(op string, all ...wrongs) {
		for _, w := range all {
			for _, row := range w.rows {
				body, python := s.fill(row.body)
				r := post(op, body, meaning{what: row.what, breaks: w.check})
				r.Python = python
				requests = append(requests, r)
			}
		}
		bad := post(op, `{"name":`, meaning{what: "a body that is cut short", breaks: all[0].check})
		requests = append(requests, bad.With(probe.Credential{}))
	}
	add(opCreate, append(wrongPets, wrongs{"pets.create.400.body", notObjects}, wrongs{"pets.create.400.required", otherObjects})...)
	requests = append(requests, s.badKeys(func() probe.Request { return addPet(s.pet("available"), meaning{}) })...)
	if !s.messages {
		return requests
	}
	add(opSubmit, append(wrongMessages, wrongs{"messages.400.body", notObjects}, wrongs{"messages.400.required", otherObjects})...)
	message := func() probe.Request { return submitText(s.name(), meaning{}) }
	noType := message()
	noType.ContentType, noType.Meaning = "", meaning{what: "no Content-Type", breaks: "messages.400.content-type"}
	form := post(opSubmit, "message="+s.name(), meaning{what: "a form as its body, and says so", breaks: "messages.form"})
	form.ContentType = "application/x-www-form-urlencoded"
	requests = append(requests, noType, form, message().With(probe.LowerScheme()), message().With(probe.WordAfterKey()))
	return append(requests, s.badKeys(message)...)
}

// badKeys returns requests with each bad credential.
func (s *sender) badKeys(request func() probe.Request) []probe.Request {
	var requests []probe.Request
	for _, c := range append(probe.BadCredentials(), probe.NotASCII()...) {
		if c.Differs(s.client.Key) {
			requests = append(requests, request().With(c))
		}
	}
	return requests
}
