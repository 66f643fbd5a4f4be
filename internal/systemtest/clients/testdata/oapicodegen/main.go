// Command oapicodegen is a client on top of code that oapi-codegen generates. It sends
// a creation only once, because a second one might add a second pet, and follows a
// link wherever it leads. It does the job of ../../npm/job.mjs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"example.com/animalstore/internal/systemtest/clients/testdata/oapicodegen/petapi"
)

var base, key = os.Getenv("PETSTORE_URL"), os.Getenv("PETSTORE_KEY")

// doer sends a GET until it succeeds, at most three times.
type doer struct{}

func (doer) Do(r *http.Request) (resp *http.Response, err error) {
	r.Header.Set("Authorization", "Bearer "+key)
	for range 3 {
		resp, err = http.DefaultClient.Do(r)
		if r.Method != "GET" || err == nil && resp.StatusCode < 429 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return resp, err
}

func list() (pets []petapi.Pet, err error) {
	for next := base + "/pets?limit=10"; ; {
		r, err := http.NewRequest("GET", next, nil)
		if err != nil {
			return nil, err
		}
		resp, err := doer{}.Do(r)
		if err != nil {
			return nil, err
		}
		page, err := petapi.ParseListPetsResponse(resp)
		if err != nil {
			return nil, err
		}
		if page.JSON200 == nil {
			return nil, errors.New(page.Status())
		}
		pets = append(pets, *page.JSON200...)
		link, _, more := strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
		if !more {
			return pets, nil
		}
		u, err := url.Parse(link)
		if err != nil {
			return nil, err
		}
		next = r.URL.ResolveReference(u).String()
	}
}

func main() {
	ctx := context.Background()
	c, err := petapi.NewClientWithResponses(base, petapi.WithHTTPClient(doer{}))
	if err != nil {
		panic(err)
	}
	var did struct {
		Added, Listed []string
		Got, Messages int
	}
	var added []int64
	for i := range 30 {
		if r, err := c.CreatePetWithResponse(ctx, nil, petapi.NewPet{Name: fmt.Sprint("pet ", i), CategoryId: int64(i)}); err == nil && r.JSON201 != nil {
			added, did.Added = append(added, r.JSON201.Id), append(did.Added, r.JSON201.Name)
		}
	}
	pets, _ := list()
	for _, pet := range pets {
		did.Listed = append(did.Listed, pet.Name)
	}
	for i, id := range added {
		if r, err := c.GetPetWithResponse(ctx, id, nil); err == nil && r.JSON200 != nil && r.JSON200.Name == did.Added[i] {
			did.Got++
		}
	}
	for i := range 3 {
		if r, err := c.SubmitMessageWithResponse(ctx, nil, petapi.NewMessage{Message: fmt.Sprint("message ", i)}); err == nil && r.JSON202 != nil {
			did.Messages++
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(did); err != nil {
		panic(err)
	}
}
