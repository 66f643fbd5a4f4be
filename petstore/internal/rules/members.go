package rules

import (
	"time"

	"example.com/animalstore/petstore"
)

// Message returns a message with these members. All code that decodes a message calls it, so
// that the compiler finds that code when petstore.Message gets another field.
func Message(id, text string, status petstore.MessageStatus, created time.Time) petstore.Message {
	return petstore.Message(struct {
		ID        string
		Text      string
		Status    petstore.MessageStatus
		CreatedAt time.Time
	}{id, text, status, created})
}
