// Package roundtrip uses the code that oapi-codegen generates from the OpenAPI
// document. It is compiled in a module of its own, with the generated package
// petapi.
package roundtrip

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roundtrip/petapi"
)

// TestRoundTrip: the generated client gets the responses that the steps below
// expect from a running reference server.
func TestRoundTrip(t *testing.T) {
	url, key := os.Getenv("ROUNDTRIP_URL"), os.Getenv("ROUNDTRIP_KEY")
	want := []string{
		`createPet 201 1 Bella 9223372036854775807 available pets/1`,
		`createPet, repeated 201 1 Bella 9223372036854775807 available pets/1`,
		`createPet 201 2 Tom -1 none pets/2`,
		`listPets 200 [1 Bella 9223372036854775807 available] next <?limit=1&cursor=AQAAAAAAAAABnjd5uQ>; rel="next"`,
		`listPets 200 [2 Tom -1 none] the last page`,
		`listPets, available 200 [1 Bella 9223372036854775807 available] the last page`,
		`listPets, bad cursor 400 invalid: cursor: must be one that this service returned (3)`,
		`getPet 200 Bella Thu, 05 Dec 2030 00:00:00 GMT <../pets>; rel="successor-version"`,
		`getPet 404 not_found: there is no pet with this id`,
		`submitMessage 202 msg_1 "Hello!" queued, in UTC`,
		`without a key 401 unauthorized Bearer realm="petstore"`,
	}
	if diff := cmp.Diff(want, steps(t, url, key)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// steps uses every operation, and returns a line about each response.
func steps(t *testing.T, url, key string) (log []string) {
	t.Helper()
	note := func(err error, format string, args ...any) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, fmt.Sprintf(format, args...))
	}
	ctx := t.Context()
	c := newClient(t, url, key)

	bella := petapi.NewPet{Name: "Bella", CategoryId: 9223372036854775807, Status: new(petapi.Available)}
	once := &petapi.CreatePetParams{IdempotencyKey: new("first")}
	for _, step := range []string{"createPet", "createPet, repeated"} {
		r, err := c.CreatePetWithResponse(ctx, once, bella)
		note(err, "%s %d %s %s", step, r.StatusCode(), pet(*r.JSON201), *r.Headers201.Location)
	}
	r, err := c.CreatePetWithResponse(ctx, nil, petapi.NewPet{Name: "Tom", CategoryId: -1})
	note(err, "createPet %d %s %s", r.StatusCode(), pet(*r.JSON201), *r.Headers201.Location)

	first, err := c.ListPetsWithResponse(ctx, &petapi.ListPetsParams{Limit: new(1)})
	note(err, "listPets %s", page(first))
	_, cursor, _ := strings.Cut(strings.TrimSuffix(*first.Headers200.Link, `>; rel="next"`), "cursor=")
	second, err := c.ListPetsWithResponse(ctx, &petapi.ListPetsParams{Limit: new(1), Cursor: &cursor})
	note(err, "listPets %s", page(second))
	available, err := c.ListPetsWithResponse(ctx, &petapi.ListPetsParams{Status: new(petapi.Available)})
	note(err, "listPets, available %s", page(available))
	bad, err := c.ListPetsWithResponse(ctx, &petapi.ListPetsParams{Cursor: new("x"), XRequestID: new("3")})
	note(err, "listPets, bad cursor %d %s: %s (%s)", bad.StatusCode(), bad.JSON400.Code, bad.JSON400.Message, *bad.Headers400.XRequestID)

	pet, err := c.GetPetWithResponse(ctx, 1, nil)
	note(err, "getPet %d %s %s %s", pet.StatusCode(), pet.JSON200.Name, *pet.Headers200.Sunset, *pet.Headers200.Link)
	pet, err = c.GetPetWithResponse(ctx, 3, nil)
	note(err, "getPet %d %s: %s", pet.StatusCode(), pet.JSON404.Code, pet.JSON404.Message)

	m, err := c.SubmitMessageWithResponse(ctx, nil, petapi.NewMessage{Message: "Hello!"})
	note(err, "submitMessage %d %s %q %s, in %s", m.StatusCode(), m.JSON202.Id, m.JSON202.Message, m.JSON202.Status, m.JSON202.CreatedAt.Location())

	nobody, err := newClient(t, url, "").ListPetsWithResponse(ctx, nil)
	note(err, "without a key %d %s %s", nobody.StatusCode(), nobody.JSON401.Code, *nobody.Headers401.WWWAuthenticate)
	return log
}

func newClient(t *testing.T, url, key string) *petapi.ClientWithResponses {
	t.Helper()
	c, err := petapi.NewClientWithResponses(url, petapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pet(p petapi.Pet) string {
	status := petapi.PetStatus("none")
	if p.Status != nil {
		status = *p.Status
	}
	return fmt.Sprint(p.Id, " ", p.Name, " ", p.CategoryId, " ", status)
}

// page describes a list page and the link to the next one.
func page(r *petapi.ListPetsResponse) string {
	var pets []string
	for _, p := range *r.JSON200 {
		pets = append(pets, pet(p))
	}
	next := "the last page"
	if link := r.Headers200.Link; link != nil {
		next = "next " + *link
	}
	return fmt.Sprint(r.StatusCode(), " ", pets, " ", next)
}
