package storagetest

import "example.com/animalstore/petstore"

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
