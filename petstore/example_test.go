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

// A worker removes a message after its delivery, never before. So a crash loses no message,
// but may repeat a delivery. The receiver can recognize it: an ID is never used again.
func ExampleQueue() {
	ctx := context.Background()
	store := memory.New(nil) // only one process can open a file, so a worker is part of the server
	for _, text := range []string{"feed Rex", "walk Mia"} {
		if _, err := store.SubmitMessage(ctx, text, petstore.IdempotencyKey{}); err != nil {
			log.Fatal(err)
		}
	}

	var queue petstore.Queue = store
	messages, err := queue.QueuedMessages(ctx, 100)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range messages {
		fmt.Println(m.ID, m.Text) // in a program: deliver it; if that fails, try again later
		if err := queue.RemoveMessages(ctx, m.ID); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// msg_1 feed Rex
	// msg_2 walk Mia
}
