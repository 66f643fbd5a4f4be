package main

import (
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/petstoretest"
)

func TestList(t *testing.T) {
	srv := petstoretest.New(t, nil)
	for _, p := range []petstore.NewPet{
		{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold},
		{Name: "Mia\n", CategoryID: 2, Status: petstore.StatusAvailable},
		{Name: "Tom", CategoryID: 2, Status: petstore.StatusSold},
	} {
		if _, err := srv.Client.CreatePet(t.Context(), p, petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
	}
	for status, want := range map[petstore.Status]string{
		"":                     "1\t\"Rex\"\tsold\n2\t\"Mia\\n\"\tavailable\n3\t\"Tom\"\tsold\n",
		petstore.StatusSold:    "1\t\"Rex\"\tsold\n3\t\"Tom\"\tsold\n",
		petstore.StatusPending: "",
	} {
		var out strings.Builder
		if err := list(t.Context(), &out, srv.Client, status); err != nil || out.String() != want {
			t.Errorf("status %q: %q, %v, want %q", status, out.String(), err, want)
		}
	}
}
