// The petstore on the server interface that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

type server struct {
	mu       sync.Mutex
	pets     []Pet
	messages int
}

func (s *server) ListPets(_ context.Context, r ListPetsRequestObject) (ListPetsResponseObject, error) {
	limit := 20
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	if limit < 1 || limit > 100 {
		return ListPets400JSONResponse{Body: Error{Code: "invalid", Message: "limit must be between 1 and 100", Status: 400}}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pets := Pets{}
	for _, p := range s.pets {
		if len(pets) < limit && (r.Params.Status == nil || p.Status != nil && *p.Status == *r.Params.Status) {
			pets = append(pets, p)
		}
	}
	return ListPets200JSONResponse{Body: pets}, nil
}

func (s *server) CreatePet(_ context.Context, r CreatePetRequestObject) (CreatePetResponseObject, error) {
	if r.Body.Name == "" || r.Body.Status != nil && !r.Body.Status.Valid() {
		return CreatePet400JSONResponse{Body: Error{Code: "invalid", Message: "name is required; status must be a known one", Status: 400}}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pet := Pet{Id: int64(len(s.pets)) + 1, Name: r.Body.Name, CategoryId: r.Body.CategoryId, Status: r.Body.Status}
	s.pets = append(s.pets, pet)
	return CreatePet201JSONResponse{Body: pet}, nil
}

func (s *server) GetPet(_ context.Context, r GetPetRequestObject) (GetPetResponseObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PetId < 1 || r.PetId > int64(len(s.pets)) {
		return GetPet404JSONResponse{Body: Error{Code: "not_found", Message: "no such pet", Status: 404}}, nil
	}
	return GetPet200JSONResponse{Body: s.pets[r.PetId-1]}, nil
}

func (s *server) SubmitMessage(_ context.Context, r SubmitMessageRequestObject) (SubmitMessageResponseObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages++
	m := Message{Id: fmt.Sprint(s.messages), Message: r.Body.Message, Status: "queued", CreatedAt: time.Now().UTC()}
	return SubmitMessage202JSONResponse{Body: m}, nil
}

func writeError(w http.ResponseWriter, code string, message string, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Error{Code: code, Message: message, Status: status})
}

func badRequest(w http.ResponseWriter, _ *http.Request, err error) {
	writeError(w, "bad_request", err.Error(), http.StatusBadRequest)
}

func requireKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+os.Getenv("API_KEY") {
			writeError(w, "unauthorized", "missing or invalid API key", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func main() {
	port := flag.Int("port", 8080, "port to listen on")
	flag.Parse()
	strict := NewStrictHandlerWithOptions(&server{}, nil, StrictHTTPServerOptions{RequestErrorHandlerFunc: badRequest})
	handler := HandlerWithOptions(strict, StdHTTPServerOptions{
		BaseURL:          "/v1",
		Middlewares:      []MiddlewareFunc{requireKey},
		ErrorHandlerFunc: badRequest,
	})
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), handler))
}
