package conformance

import (
	"fmt"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// unusualValues adds pets and messages with unusual names and values, and as clients with
// habits.
func (s *sender) unusualValues() {
	// If the target accepts these, it must accept others like them.
	first := []newPet{{"7", s.category, ""}, {s.name(), s.anyCategory(), "pending"}, {s.name(), -s.anyCategory(), "pending"}}
	s.each(len(first), func(i int) { s.create(first[i]) })
	var requests []probe.Request
	for _, text := range s.texts() {
		requests = append(requests, probe.Post("/pets", newPet{text, s.category, "pending"}.json()))
		if s.messages {
			requests = append(requests, probe.PostMessage(messageBody(text)))
		}
	}
	for _, category := range categories {
		requests = append(requests, probe.Post("/pets", newPet{s.name(), category, "available"}.json()))
	}
	id := fmt.Sprint(s.anID())
	for _, form := range petForms {
		requests = append(requests, probe.Post("/pets", strings.ReplaceAll(s.fill(form), "$I", id)))
	}
	for _, form := range messageForms {
		if s.messages {
			requests = append(requests, probe.PostMessage(s.fill(form)))
		}
	}
	s.all(requests)
	s.each(len(habits), func(i int) { s.as(habits[i]) })
	// A page of more than 64 KiB.
	long := newPet{s.name() + strings.Repeat(" long", 1500), s.category, "sold"}
	if s.create(long).Succeeded() {
		s.each(9, func(int) {
			n := long
			n.Name = s.name() + long.Name
			s.create(n)
		})
	}
	s.lists()
}

// as uses every operation as a client with a habit.
func (s *sender) as(h habit) {
	send := func(r probe.Request) *probe.Exchange {
		h(&r)
		return s.send(r)
	}
	x := send(probe.Post("/pets", s.pet("available").json()))
	if id, ok := addedID(x); ok {
		send(probe.Get(petPath(id)))
		send(probe.Get(petPath(id)).With(probe.Credential{}))
	}
	send(probe.Get(allPets("pending").path()))
	send(probe.Get(s.missingPath()))
	send(probe.Post("/pets", s.fill(`{"name":$N}`)))
	if s.messages {
		send(probe.PostMessage(messageBody(s.name() + " 猫 🦊")))
		send(probe.PostMessage(`{}`))
	}
}
