package storagetest

import (
	"reflect"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// SamplePet returns a pet whose every field has another value than zero, so that a test
// finds a layer that loses one. [Run] passes it through the store under test.
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

// SampleMessage returns a message whose every field has another value than zero.
func SampleMessage() petstore.Message {
	return petstore.Message{
		ID:        "msg_1",
		Text:      "Feed Rex",
		Status:    petstore.MessageQueued,
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
}

// testSamples fails if a field of a sample is zero, as one is that was just added.
func testSamples(t *testing.T, _ *fixture) {
	for _, sample := range []any{SamplePet(), SamplePet().NewPet, SampleMessage()} {
		for field, value := range reflect.ValueOf(sample).Fields() {
			if value.IsZero() {
				t.Errorf("the field %s of the sample %T in package storagetest is zero: give it a value, and each store is tested with it",
					field.Name, sample)
			}
		}
	}
}
