package scratch

import (
	"net/http"
	"os"
	"strconv"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
)

func TestConformance(t *testing.T) {
	const key = "scratch-key-1A2b3C"
	largest := 100
	if n, err := strconv.Atoi(os.Getenv("SCRATCH_LARGEST")); err == nil {
		largest = n // to see a failure
	}
	newHandler := func(*testing.T) http.Handler { return &Store{Key: key, Largest: largest} }
	conformancetest.RunHandler(t, newHandler, conformance.Target{Key: key}, &conformance.Options{
		Known: []conformance.Known{
			{ID: "pets.create.400.required.name-case", Reason: "encoding/json ignores the case of names"},
			{ID: "pets.create.400.required.category-case", Reason: "encoding/json ignores the case of names"},
		},
	})
}
