package client

import (
	"errors"
	"net/http"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/internal/rules"
)

// decoder returns what a response means whose JSON is a W.
type decoder[W, T any] func(h http.Header, w W) (T, error)

func decodePet(m petjson.Members) (petstore.Pet, error) {
	if m.Status.Kind() == 'n' { // as some servers send it for none
		m.Status = nil
	}
	p, err := m.Pet()
	if err == nil {
		err = petstore.NewPet{Status: p.Status}.Validate() // other servers may accept longer names
	}
	return p, err
}

// about returns decodePet for a response that must be about a certain pet.
func about(same func(petstore.Pet) bool) decoder[petjson.Members, petstore.Pet] {
	return func(_ http.Header, m petjson.Members) (petstore.Pet, error) {
		p, err := decodePet(m)
		if err == nil && !same(p) {
			err = errors.New("it is about another pet")
		}
		return p, err
	}
}

type wireMessage struct {
	ID        string `json:"id"`
	Text      string `json:"message"`
	Status    string `json:"status"`
	CreatedAt string `json:"createdAt"`
}

func decodeMessage(_ http.Header, w wireMessage) (m petstore.Message, err error) {
	if w.ID == "" {
		return m, errors.New("a message must have an id")
	}
	created, _ := time.Parse(time.RFC3339, w.CreatedAt)
	return petstore.Message{ID: w.ID, Text: w.Text, Status: w.Status, CreatedAt: rules.MessageTime(created)}, nil
}
