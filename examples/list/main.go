// List prints all pets of a server, one a line. It needs an API key in
// PETSTORE_API_KEY.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080/v1", "base `URL` of the server")
	status := flag.String("status", "", "only pets of this `status`")
	flag.Parse()
	c, err := client.New(*url, os.Getenv("PETSTORE_API_KEY"), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := list(ctx, os.Stdout, c, petstore.Status(*status)); err != nil {
		log.Fatal(err)
	}
}

// list prints the pets with a status, or all pets if it is "". All requests one page
// after another, so an error may come after some pets.
func list(ctx context.Context, w io.Writer, c *client.Client, status petstore.Status) error {
	for pet, err := range c.All(ctx, petstore.ListQuery{Limit: petstore.MaxLimit, Status: status}) {
		if err != nil {
			return err
		}
		// A name can be any text, even one with line breaks.
		if _, err := fmt.Fprintf(w, "%d\t%q\t%s\n", pet.ID, pet.Name, pet.Status); err != nil {
			return err
		}
	}
	return nil
}
