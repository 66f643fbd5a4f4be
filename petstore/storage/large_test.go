package storage_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// TestLargestPet stores the largest pet that is accepted, of characters that
// take six bytes each when encoded, and larger ones, which are refused.
func TestLargestPet(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "pets.db"))
	const limit = 64 << 20
	overhead := len(`,"name":"","categoryId":0}`)
	create := func(length int) error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{Name: strings.Repeat("\x01", length)}, petstore.Once{})
		return err
	}
	largest := (limit - overhead) / len(`\u0001`)
	if err := create(largest + 1); petstore.CodeOf(err) != petstore.CodeInvalid || !strings.Contains(err.Error(), "67108864") {
		t.Errorf("a name of %d control characters: %v, want it to be invalid", largest+1, err)
	}
	if err := create(largest); err != nil {
		t.Errorf("a name of %d control characters: %v", largest, err)
	}
	// Together they are too large for one change.
	pet := petstore.NewPet{Name: strings.Repeat("\x01", 6<<20)}
	n, err := s.Load(t.Context(), slices.Values([]petstore.NewPet{pet, pet}))
	if n != 2 || err != nil {
		t.Errorf("loaded %d, %v; want 2", n, err)
	}
}
