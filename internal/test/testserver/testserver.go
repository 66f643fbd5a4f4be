// Package testserver has what tests of other packages share: a handler of the contract on a
// store in memory, and a store whose operations a test can replace.
package testserver

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Key is the only API key that [Authenticator] accepts.
const Key = "Conformance_Test-Key0123456789abcXYZ"

// Authenticator accepts [Key].
var Authenticator = apikey.Static{Key: "tester"}

// SampleMessage returns a message whose every field has another value than zero, as
// storagetest.SamplePet returns a pet.
func SampleMessage() petstore.Message {
	return petstore.Message{
		ID: "msg_1", Text: "Feed Rex", Status: petstore.MessageQueued, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
}

// New returns a handler of the contract under /v1, with messages, on a store in
// memory that has n pets.
func New(n int) http.Handler {
	store := memory.New(nil)
	for i := range n {
		pet := petstore.NewPet{Name: "Rex", CategoryID: 5, Status: petstore.Statuses()[i%3]}
		if _, err := store.CreatePet(context.Background(), pet, petstore.IdempotencyKey{}); err != nil {
			panic(err)
		}
	}
	return http.StripPrefix("/v1", httpapi.New(store, Authenticator, &httpapi.Options{Messages: store}))
}

// Changed returns a handler whose responses are those of h after a change.
func Changed(h http.Handler, change func(*http.Request, *httptest.ResponseRecorder)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		change(r, rec)
		rec.Header().Del("Content-Length")
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}
