// Command oapicodegen uses every operation through the client that oapi-codegen
// generates, and prints the responses.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
)

var log []any

// must adds values to the log.
func must(err error, values ...any) {
	if err != nil {
		panic(err)
	}
	log = append(log, values...)
}

func newClient(key string) *ClientWithResponses {
	c, err := NewClientWithResponses(os.Getenv("PETSTORE_URL"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	must(err)
	return c
}

func main() {
	ctx := context.Background()
	c := newClient(os.Getenv("PETSTORE_KEY"))

	bella := NewPet{Name: "Bella", CategoryId: 1, Status: new(Available)}
	for range 2 {
		r, err := c.CreatePetWithResponse(ctx, &CreatePetParams{IdempotencyKey: new("first")}, bella)
		must(err, r.StatusCode(), r.JSON201, r.Headers201.Location)
	}
	_, err := c.CreatePetWithResponse(ctx, nil, NewPet{Name: "Tom", CategoryId: 2})
	must(err)

	first, err := c.ListPetsWithResponse(ctx, &ListPetsParams{Limit: new(1)})
	must(err, *first.JSON200)
	_, cursor, _ := strings.Cut(strings.TrimSuffix(*first.Headers200.Link, `>; rel="next"`), "cursor=")
	second, err := c.ListPetsWithResponse(ctx, &ListPetsParams{Limit: new(1), Cursor: &cursor})
	must(err, *second.JSON200, second.Headers200.Link)
	sold, err := c.ListPetsWithResponse(ctx, &ListPetsParams{Status: new(Sold)})
	must(err, *sold.JSON200)

	pet, err := c.GetPetWithResponse(ctx, 1, nil)
	must(err, pet.JSON200.Status, pet.Headers200.Sunset)
	missing, err := c.GetPetWithResponse(ctx, 9, nil)
	must(err, missing.StatusCode(), missing.JSON404)

	m, err := c.SubmitMessageWithResponse(ctx, nil, NewMessage{Message: "Hello!"})
	must(err, m.StatusCode(), m.JSON202.Id, m.JSON202.Message, m.JSON202.Status)

	nobody, err := newClient("").ListPetsWithResponse(ctx, nil)
	must(err, nobody.JSON401.Code)
	wrong, err := c.CreatePetWithResponse(ctx, nil, NewPet{Name: "Luna", CategoryId: 3, Status: new(PetStatus("gone"))})
	must(err, wrong.JSON400)
	must(json.NewEncoder(os.Stdout).Encode(log))
}
