package petstoretest

import (
	"testing"

	"example.com/animalstore/petstore"
)

func TestNew(t *testing.T) {
	srv := New(t)
	want, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 4}, petstore.Once{})
	if err != nil {
		t.Fatal(err)
	}
	for got, err := range srv.Client.All(t.Context(), petstore.ListQuery{}) {
		if err != nil || got != want {
			t.Errorf("listed %+v (%v), want %+v", got, err, want)
		}
	}
}
