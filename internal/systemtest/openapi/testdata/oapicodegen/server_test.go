package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"roundtrip/petapi"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// server implements as much of the generated interface as the steps need.
type server struct{ store *memory.Store }

var _ petapi.StrictServerInterface = (*server)(nil)

// authenticated checks the key, which a generated server does not.
func authenticated(key string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			httpapi.WriteError(w, r, petstore.Errorf(petstore.CodeUnauthorized, "a key is needed"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) ListPets(ctx context.Context, r petapi.ListPetsRequestObject) (petapi.ListPetsResponseObject, error) {
	q := petstore.ListQuery{
		Limit:  value(r.Params.Limit),
		Status: petstore.Status(value(r.Params.Status)),
		After:  petstore.Cursor(value(r.Params.Cursor)),
	}
	page, err := s.store.ListPets(ctx, q)
	if err != nil {
		return petapi.ListPets400JSONResponse{
			Body:    wireError(err, 400),
			Headers: petapi.ListPets400ResponseHeaders{XRequestID: value(r.Params.XRequestID)},
		}, nil
	}
	answer := petapi.ListPets200JSONResponse{Body: petapi.Pets{}, Headers: petapi.ListPets200ResponseHeaders{XRequestID: "1"}}
	for _, p := range page.Pets {
		answer.Body = append(answer.Body, wirePet(p))
	}
	if page.Next != "" {
		answer.Headers.Link = new(fmt.Sprintf(`<?limit=%d&cursor=%s>; rel="next"`, q.Limit, page.Next))
	}
	return answer, nil
}

func (s *server) CreatePet(ctx context.Context, r petapi.CreatePetRequestObject) (petapi.CreatePetResponseObject, error) {
	pet, err := s.store.CreatePet(ctx, petstore.NewPet{
		Name: r.Body.Name, CategoryID: r.Body.CategoryId, Status: petstore.Status(value(r.Body.Status)),
	}, petstore.Once{Key: value(r.Params.IdempotencyKey)})
	if err != nil {
		return petapi.CreatePet400JSONResponse{Body: wireError(err, 400)}, nil
	}
	return petapi.CreatePet201JSONResponse{
		Body:    wirePet(pet),
		Headers: petapi.CreatePet201ResponseHeaders{Location: fmt.Sprintf("pets/%d", pet.ID), XRequestID: "1"},
	}, nil
}

func (s *server) GetPet(ctx context.Context, r petapi.GetPetRequestObject) (petapi.GetPetResponseObject, error) {
	const deprecation, link, sunset = "@1795132800", `<../pets>; rel="successor-version"`, "Thu, 05 Dec 2030 00:00:00 GMT"
	pet, err := s.store.GetPet(ctx, r.PetId)
	if err != nil {
		return petapi.GetPet404JSONResponse{
			Body:    wireError(err, 404),
			Headers: petapi.GetPet404ResponseHeaders{Deprecation: deprecation, Link: link, Sunset: sunset, XRequestID: "1"},
		}, nil
	}
	return petapi.GetPet200JSONResponse{
		Body:    wirePet(pet),
		Headers: petapi.GetPet200ResponseHeaders{Deprecation: deprecation, Link: link, Sunset: sunset, XRequestID: "1"},
	}, nil
}

func (s *server) SubmitMessage(ctx context.Context, r petapi.SubmitMessageRequestObject) (petapi.SubmitMessageResponseObject, error) {
	m, err := s.store.SubmitMessage(ctx, r.Body.Message, petstore.Once{})
	if err != nil {
		return nil, err
	}
	return petapi.SubmitMessage202JSONResponse{
		Body:    petapi.Message{Id: m.ID, Message: m.Text, Status: petapi.MessageStatus(m.Status), CreatedAt: m.CreatedAt},
		Headers: petapi.SubmitMessage202ResponseHeaders{XRequestID: "1"},
	}, nil
}

func wirePet(p petstore.Pet) petapi.Pet {
	pet := petapi.Pet{Id: p.ID, Name: p.Name, CategoryId: p.CategoryID}
	if p.Status != "" {
		pet.Status = new(petapi.PetStatus(p.Status))
	}
	return pet
}

func wireError(err error, status int) petapi.Error {
	e, _ := errors.AsType[*petstore.Error](err)
	return petapi.Error{Code: petapi.ErrorCode(e.Code), Message: e.Message, Status: status}
}

// value returns what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
