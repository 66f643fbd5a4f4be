package roundtrip

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"roundtrip/petapi"
)

// server implements two operations of the generated interface.
type server struct {
	petapi.StrictServerInterface
	pets []petapi.Pet
}

func (s *server) CreatePet(_ context.Context, r petapi.CreatePetRequestObject) (petapi.CreatePetResponseObject, error) {
	p := petapi.Pet{Id: int64(len(s.pets)) + 1, Name: r.Body.Name, CategoryId: r.Body.CategoryId, Status: r.Body.Status}
	s.pets = append(s.pets, p)
	headers := petapi.CreatePet201ResponseHeaders{Location: new(fmt.Sprint("pets/", p.Id))}
	return petapi.CreatePet201JSONResponse{Body: p, Headers: headers}, nil
}

func (s *server) ListPets(_ context.Context, r petapi.ListPetsRequestObject) (petapi.ListPetsResponseObject, error) {
	if r.Params.Limit != nil && *r.Params.Limit < 1 {
		e := petapi.Error{Code: "invalid", Message: "limit", Status: 400}
		return petapi.ListPets400JSONResponse{Body: e, Headers: petapi.ListPets400ResponseHeaders{XRequestID: new("1")}}, nil
	}
	return petapi.ListPets200JSONResponse{Body: s.pets}, nil
}

// TestGeneratedServer: a server on top of the generated interface understands the
// generated client, and the other way round.
func TestGeneratedServer(t *testing.T) {
	srv := httptest.NewServer(petapi.Handler(petapi.NewStrictHandler(new(server), nil)))
	defer srv.Close()
	c := newClient(t, srv.URL, "")
	bella := petapi.NewPet{Name: "Bella", CategoryId: 9223372036854775807, Status: new(petapi.Available)}
	created, err := c.CreatePetWithResponse(t.Context(), nil, bella)
	if err != nil || created.JSON201 == nil || *created.Headers201.Location != "pets/1" {
		t.Fatalf("created: %+v, %v", created, err)
	}
	list, err := c.ListPetsWithResponse(t.Context(), nil)
	if err != nil || list.JSON200 == nil || page(list) != "200 [1 Bella 9223372036854775807 available] the last page" {
		t.Errorf("list: %+v, %v", list, err)
	}
	refused, err := c.ListPetsWithResponse(t.Context(), &petapi.ListPetsParams{Limit: new(0)})
	if err != nil || refused.JSON400 == nil || refused.JSON400.Code != "invalid" || *refused.Headers400.XRequestID != "1" {
		t.Errorf("refused: %+v, %v", refused, err)
	}
}
