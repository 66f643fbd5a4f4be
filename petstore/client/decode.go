package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/jsonerror"
	"example.com/animalstore/petstore/internal/rules"
)

// wirePet and wireMessage are what a server sends. A nil pointer is a member that is missing
// or null. Unknown members are ignored.
type wirePet struct {
	ID         *int64          `json:"id"`
	Name       *string         `json:"name"`
	CategoryID *int64          `json:"categoryId"`
	Status     petstore.Status `json:"status"`
}

type wireMessage struct {
	ID        *string `json:"id"`
	Text      *string `json:"message"`
	Status    *string `json:"status"`
	CreatedAt string  `json:"createdAt"`
}

func decodePet(body []byte) (petstore.Pet, error) {
	var w wirePet
	if err := unmarshal(body, &w); err != nil {
		return petstore.Pet{}, err
	}
	return w.pet()
}

func (w wirePet) pet() (p petstore.Pet, err error) {
	switch {
	case w.ID == nil:
		return p, missing("id")
	case w.Name == nil:
		return p, missing("name")
	case w.CategoryID == nil:
		return p, missing("categoryId")
	}
	p = petstore.Pet{ID: *w.ID, NewPet: rules.NewPet(*w.Name, *w.CategoryID, w.Status)}
	return p, petstore.NewPet{Status: p.Status}.Validate() // other servers may accept longer names
}

func decodePets(body []byte) ([]petstore.Pet, error) {
	var list []wirePet
	if err := unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, errors.New("body: must be an array, not null")
	}
	pets := make([]petstore.Pet, len(list))
	for i, w := range list {
		var err error
		if pets[i], err = w.pet(); err != nil {
			return nil, fmt.Errorf("%d/%w", i, err)
		}
	}
	return pets, nil
}

func decodeMessage(body []byte) (m petstore.Message, err error) {
	var w wireMessage
	if err := unmarshal(body, &w); err != nil {
		return m, err
	}
	switch {
	case w.ID == nil:
		return m, missing("id")
	case w.Text == nil:
		return m, missing("message")
	case w.Status == nil:
		return m, missing("status")
	}
	return rules.Message(*w.ID, *w.Text, petstore.MessageStatus(*w.Status), parseTime(w.CreatedAt)), nil
}

// parseTime reads a time of RFC 3339, whose zone may also be +0000 or +00. It returns the
// zero time for other text: after an error the caller might submit the message again.
func parseTime(s string) time.Time {
	for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
		if t, err := time.Parse("2006-01-02T15:04:05"+zone, strings.ToUpper(s)); err == nil {
			return rules.MessageTime(t)
		}
	}
	return time.Time{}
}

// createdFrom returns an error if the response to the creation of p is about another pet.
// A server may give a status to a pet without one.
func createdFrom(p petstore.NewPet, got petstore.Pet) error {
	want := petstore.Pet{ID: got.ID, NewPet: p}
	if p.Status == "" {
		want.Status = got.Status
	}
	if got == want {
		return nil
	}
	json, _ := want.AppendJSON(nil)
	return fmt.Errorf("body: must be the pet that was sent, %.300s", json)
}

func missing(name string) error { return fmt.Errorf("%s: is missing", name) }

// unmarshal decodes JSON. Its errors do not mention Go types.
func unmarshal(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return jsonerror.Explain(e, "body")
	}
	if err != nil {
		return fmt.Errorf("body: not valid JSON: %w", err)
	}
	return nil
}
