package conformance

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// unusualValues adds pets and messages with unusual names and values, and as clients with
// habits.
func (s *sender) unusualValues() {
	var requests []probe.Request
	add := func(r probe.Request) {
		if s.messages || !r.ForMessages() {
			requests = append(requests, r)
		}
	}
	values := func(texts []string, pet, message meaning) {
		for _, text := range texts {
			text = s.fillText(text)
			pet.what = fmt.Sprintf("the text %.40q", text)
			message.what = pet.what
			add(addPet(newPet{text, s.category, "pending"}, pet))
			add(submitText(text, message))
		}
	}
	const pet, message = "pets.create.name.accepted", "messages.text.accepted"
	values(words, meaning{arguable: pet, free: true}, meaning{arguable: message, free: true})
	values(texts, meaning{arguable: pet}, meaning{arguable: message})
	values(freeTexts, meaning{free: true}, meaning{free: true})
	for _, category := range append(categories, s.anyCategory(), -s.anyCategory()) {
		m := meaning{what: fmt.Sprintf("the categoryId %d", category), free: true}
		if s.anyAccepted {
			m.arguable, m.free = "pets.create.category.accepted", false
		}
		add(addPet(newPet{s.name(), category, "available"}, m))
	}
	s.forms(add)
	for _, contentType := range contentTypes {
		for _, r := range []probe.Request{addPet(s.pet("sold"), meaning{what: "the Content-Type " + contentType}), submitText(s.name(), meaning{what: "the Content-Type " + contentType})} {
			r.ContentType = contentType
			add(r)
		}
	}
	s.all(requests)
	s.each(len(habits), func(i int) { s.as(habits[i]) })
	// A page of more than 64 KiB.
	long := meaning{what: "a long name", free: true}
	n := newPet{s.name() + strings.Repeat(" long", 1500), s.category, "sold"}
	if s.create(n, long).Succeeded() {
		s.each(9, func(int) { s.create(newPet{s.name() + n.Name, n.Category, n.Status}, long) })
	}
	s.lists()
}

// forms adds the requests for pets and messages that are written in unusual ways.
func (s *sender) forms(add func(probe.Request)) {
	id := fmt.Sprint(s.anID())
	form := func(op string, f form) {
		name := s.name()
		body, python := s.fillWith(name, f.body)
		means, _ := s.fillWith(name, f.means)
		m := meaning{what: f.what, arguable: f.arguable, free: f.free}
		if op == opSubmit {
			m.text = &means
		} else {
			p, _ := readPet(probe.ParseObject(jsontext.Value(means)))
			m.sent = &p.newPet
		}
		r := post(op, strings.ReplaceAll(body, "$I", id), m)
		r.Python = python
		add(r)
	}
	for _, f := range petForms {
		form(opCreate, f)
	}
	for _, f := range messageForms {
		form(opSubmit, f)
	}
}

// as uses every operation as a client that sends these header fields.
func (s *sender) as(fields map[string]string) {
	send := func(r probe.Request) *probe.Exchange {
		r.Header = fields
		return s.send(r)
	}
	x := send(addPet(s.pet("available"), meaning{}))
	if id, ok := addedID(x); ok {
		send(probe.Get(petPath(id)))
		send(probe.Get(petPath(id)).With(probe.Credential{}))
	}
	send(probe.Get(allPets("pending").path()))
	send(probe.Get(s.missingPath()))
	body, _ := s.fill(`{"name":$N}`)
	send(post(opCreate, body, meaning{what: "no categoryId", breaks: "pets.create.400.required"}))
	if s.messages {
		send(submitText(s.name()+" 猫 🦊", meaning{what: "a text in another script", arguable: "messages.text.accepted"}))
		send(post(opSubmit, `{}`, meaning{what: "an empty object", breaks: "messages.400.required"}))
	}
}
