package storage_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// withDate returns t as time.Now would after the date was set forward by d, or
// back: t.Sub still measures by the monotonic clock.
func withDate(t time.Time, d time.Duration) time.Time {
	set := t
	*(*int64)(unsafe.Pointer(&set)) += int64(d/time.Second) << 30 // the seconds in time.Time.wall
	if set.Sub(t) != 0 || set.Unix()-t.Unix() != int64(d/time.Second) {
		panic(fmt.Sprintf("%v is not %v with the date set by %v", set, t, d))
	}
	return set
}

// TestOnceWithWrongClock repeats a create after the date was wrong for a while.
// An outcome may be kept too long, but not too short a time.
func TestOnceWithWrongClock(t *testing.T) {
	for _, closed := range []bool{false, true} {
		for name, wrong := range map[string]time.Duration{
			"an hour behind": -time.Hour,
			"a day behind":   -25 * time.Hour,
			"years behind":   -20 * 365 * 24 * time.Hour,
			"a day ahead":    25 * time.Hour,
			"years ahead":    20 * 365 * 24 * time.Hour,
		} {
			t.Run(fmt.Sprintf("%s, closed=%v", name, closed), func(t *testing.T) {
				path, now, date := filepath.Join(t.TempDir(), "pets.db"), time.Now(), time.Duration(0)
				opts := &storage.Options{Now: func() time.Time { return withDate(now, date) }}
				s, err := storage.Open(path, opts)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { s.Close() }()
				set := func(d time.Duration) {
					if closed {
						s.Close()
					}
					date = d
					if closed {
						if s, err = storage.Open(path, opts); err != nil {
							t.Fatal(err)
						}
					}
				}
				create := func(key string) int64 {
					now = now.Add(time.Minute)
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: key}, petstore.Once{Key: key})
					if err != nil {
						t.Fatal(err)
					}
					return pet.ID
				}
				want := map[string]int64{}
				for i := range 20 {
					key := "key " + strconv.Itoa(i)
					want[key] = create(key)
				}
				for i := range 10 {
					for key, d := range map[string]time.Duration{"wrong ": wrong, "right ": 0} {
						set(d)
						key += strconv.Itoa(i)
						want[key] = create(key)
					}
				}
				for key, id := range want {
					if got := create(key); got != id {
						t.Errorf("%s: repeated within 2 hours, got pet %d, want %d", key, got, id)
					}
				}
			})
		}
	}
}
