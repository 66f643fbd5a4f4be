package storage_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestOnceWithWrongClock repeats a create after the clock was wrong for a while.
// An outcome may be kept too long, but not too short.
func TestOnceWithWrongClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"an hour behind": -time.Hour, "a day behind": -25 * time.Hour, "years behind": -20 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			s, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), &storage.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			create := func(key string) int64 {
				pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: key}, petstore.Once{Key: key})
				if err != nil {
					t.Fatal(err)
				}
				return pet.ID
			}
			want := map[string]int64{}
			for i := range 50 {
				key := "key " + strconv.Itoa(i)
				want[key] = create(key)
				now = now.Add(time.Minute)
			}
			for i := range 20 {
				now = now.Add(wrong)
				create("while the clock is wrong " + strconv.Itoa(i))
				now = now.Add(time.Minute - wrong)
				create("while the clock is right " + strconv.Itoa(i))
			}
			for key, id := range want {
				if got := create(key); got != id {
					t.Errorf("%s: repeated after %v, got pet %d, want %d", key, 2*time.Hour, got, id)
				}
			}
		})
	}
}
