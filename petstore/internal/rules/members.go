package rules

import (
	"time"

	"example.com/animalstore/petstore"
)

// NewPet returns a pet with these members. All code that decodes a pet calls it, so that the
// compiler finds that code when petstore.NewPet gets another field. First the conversion
// below does not compile. With another field and parameter here, the callers do not compile,
// until they decode the field.
func NewPet(name string, categoryID int64, status petstore.Status) petstore.NewPet {
	return petstore.NewPet(struct {
		Name       string
		CategoryID int64
		Status     petstore.Status
	}{name, categoryID, status})
}

// Message returns a message with these members, as NewPet does a pet.
func Message(id, text string, status petstore.MessageStatus, created time.Time) petstore.Message {
	return petstore.Message(struct {
		ID        string
		Text      string
		Status    petstore.MessageStatus
		CreatedAt time.Time
	}{id, text, status, created})
}
