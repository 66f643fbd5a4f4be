package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/petstoretest"
)

// Create a pet, list all, and see what an error says.
func Example() {
	srv := httptest.NewServer(petstoretest.NewHandler(nil)) // instead of your server
	defer srv.Close()
	ctx := context.Background()

	c, err := client.New(srv.URL+"/v1", petstoretest.Key, &client.Options{RetryWrites: true}) // it honors Idempotency-Key
	if err != nil {
		log.Fatal(err)
	}
	// The key is for another call, after errors.Is(err, client.ErrMaybeDone).
	key := petstore.IdempotencyKey{Key: "order-4711"}
	if _, err = c.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 4}, key); err != nil {
		fmt.Println("not created:", err)
	}
	for pet, err := range c.All(ctx, petstore.ListQuery{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pet.ID, pet.Name)
	}

	// The code says what to do about an error, and the cause says what happened.
	_, err = c.GetPet(ctx, 7)
	fmt.Println(petstore.CodeOf(err))
	if e, ok := errors.AsType[*client.ResponseError](err); ok {
		fmt.Println(e.Status)
	}
	// Output:
	// 1 Rex
	// not_found
	// 404
}
