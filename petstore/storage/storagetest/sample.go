package storagetest

import (
	"time"

	"example.com/animalstore/petstore"
)

// SamplePet returns a pet whose every field has another value than zero, so that a test
// finds a layer that loses one. [Run] passes its NewPet through the store under test.
func SamplePet() petstore.Pet {
	return petstore.Pet{
		ID: 1,
		NewPet: petstore.NewPet{
			Name:       "Rex",
			CategoryID: 7,
			Status:     petstore.StatusSold,
		},
	}
}

// SampleMessage returns a message whose every field has another value than zero, for tests
// of layers. [Run] does not use it.
func SampleMessage() petstore.Message {
	return petstore.Message{
		ID:        "msg_1",
		Text:      "Feed Rex",
		Status:    petstore.MessageQueued,
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
}
