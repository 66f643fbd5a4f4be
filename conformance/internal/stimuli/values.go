package stimuli

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// unusualValues adds pets and messages with unusual names and values, fewer than a list can
// have.
func (s *session) unusualValues() {
	requests := append(s.textRequests(texts), s.formRequests()...)
	for _, category := range append(categories, anyCategory(), -anyCategory()) {
		n := probe.NewPet{Name: s.name(), Category: category, Status: "available"}
		requests = append(requests, probe.AddPet(n, mayRefuse(fmt.Sprintf("the categoryId %d", category))))
	}
	s.all(requests)
	s.sameNames()
	s.create(s.longPet(), mayRefuse("a long name"))
}

// sameNames adds pets with a name that another pet has, in lower or upper case.
func (s *session) sameNames() {
	same := probe.Intent{Unusual: "the name of another pet", MayRefuse: probe.With400}
	n := s.pet("sold")
	first := s.create(n, probe.Intent{})
	otherCase := n
	otherCase.Name = strings.ToUpper(n.Name)
	s.create(n, same)
	s.create(otherCase, probe.Intent{Unusual: "the name of another pet, in upper case", MayRefuse: probe.With400})
	s.getAdded(first) // another may have replaced it
	n = s.pet("")
	s.each(2, func(int) { s.create(n, same) })
}

// longPet returns a pet with a long name.
func (s *session) longPet() probe.NewPet {
	return probe.NewPet{Name: s.name() + strings.Repeat(" long", 1500), Category: s.category, Status: "sold"}
}

// mayRefuse is the intent of a request that is unusual, and that the target may refuse.
func mayRefuse(unusual string) probe.Intent {
	return probe.Intent{Unusual: unusual, MayRefuse: probe.With4xx}
}

// textRequests returns requests for a pet and a message with each text of a table.
func (s *session) textRequests(table []string) []probe.Request {
	var requests []probe.Request
	for _, text := range table {
		text = fillText(text, s.mark)
		intent := mayRefuse(fmt.Sprintf("the text %.40q", text))
		n := probe.NewPet{Name: text, Category: s.category, Status: "pending"}
		requests = append(requests, probe.AddPet(n, intent), probe.SubmitText(text, intent))
	}
	return requests
}

// formRequests returns requests for pets and messages that are written in unusual ways.
func (s *session) formRequests() []probe.Request {
	var requests []probe.Request
	id := fmt.Sprint(s.anID())
	for _, f := range petForms {
		name := s.name()
		meant, _ := probe.ReadPet(probe.ParseObject(jsontext.Value(s.fillWith(name, f.means))))
		intent := probe.Intent{Unusual: f.what, Pet: &meant.NewPet, MayRefuse: f.mayRefuse}
		body := strings.ReplaceAll(s.fillWith(name, f.body), "$I", id)
		requests = append(requests, probe.Post(probe.CreatePet, body, intent))
	}
	for _, f := range messageForms {
		name := s.name()
		meant := s.fillWith(name, f.means)
		intent := probe.Intent{Unusual: f.what, Text: &meant, MayRefuse: f.mayRefuse}
		requests = append(requests, probe.Post(probe.SubmitMessage, s.fillWith(name, f.body), intent))
	}
	return requests
}
