package etcdstore_test

import (
	"context"
	"fmt"
	"log"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

func Example() {
	ctx := context.Background()
	store, err := etcdstore.Open(ctx, etcdstore.Config{
		Endpoints: []string{"http://127.0.0.1:2379", "http://127.0.0.1:22379", "http://127.0.0.1:32379"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	pet, err := store.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 4}, petstore.Once{})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(pet.ID, pet.Name)
}
