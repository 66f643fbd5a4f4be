package petstore_test

import (
	"context"
	"fmt"
	"log"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// Create pets, and list the sold ones page by page.
func Example() {
	ctx := context.Background()
	var store petstore.Service = memory.New(nil)

	for _, p := range []petstore.NewPet{
		{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold},
		{Name: "Mia", CategoryID: 2},
		{Name: "Tom", CategoryID: 2, Status: petstore.StatusSold},
	} {
		if _, err := store.CreatePet(ctx, p, petstore.IdempotencyKey{}); err != nil {
			log.Fatal(err)
		}
	}

	q := petstore.ListQuery{Limit: 1, Status: petstore.StatusSold}
	for {
		page, err := store.ListPets(ctx, q)
		if err != nil {
			log.Fatal(err)
		}
		for _, pet := range page.Pets {
			fmt.Println(pet.ID, pet.Name)
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}

	_, err := store.GetPet(ctx, 9)
	fmt.Println(petstore.CodeOf(err))
	// Output:
	// 1 Rex
	// 3 Tom
	// not_found
}
