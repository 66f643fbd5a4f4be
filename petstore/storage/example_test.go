package storage_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func Example() {
	dir, err := os.MkdirTemp("", "petstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := storage.Open(filepath.Join(dir, "pets.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	ctx := context.Background()
	for _, name := range []string{"Rex", "Mia", "Tom"} {
		p := petstore.NewPet{Name: name, CategoryID: 4, Status: petstore.StatusAvailable}
		if _, err := store.CreatePet(ctx, p, petstore.Once{}); err != nil {
			log.Fatal(err)
		}
	}

	q := petstore.ListQuery{Limit: 2, Status: petstore.StatusAvailable}
	for {
		page, err := store.ListPets(ctx, q)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range page.Pets {
			fmt.Println(p.ID, p.Name)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	// Output:
	// 1 Rex
	// 2 Mia
	// 3 Tom
}
