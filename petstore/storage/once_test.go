package storage_test

import (
	"fmt"
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

// TestOnceWithWrongClock repeats creates after the date was wrong for a while.
// An outcome may be kept too long, but not too short a time.
func TestOnceWithWrongClock(t *testing.T) {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	for _, wrong := range []time.Duration{-20 * year, day + time.Hour} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprintf("date off by %v, closed=%v", wrong, closed), func(t *testing.T) {
				path, now, date := dbPath(t), time.Now(), time.Duration(0)
				var s *storage.Store
				reopen := func() {
					var err error
					if s != nil {
						s.Close()
					}
					if s, err = storage.Open(path, &storage.Options{Now: func() time.Time { return withDate(now, date) }}); err != nil {
						t.Fatal(err)
					}
				}
				reopen()
				defer func() { s.Close() }()
				create := func(i int) int64 {
					now = now.Add(time.Minute)
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{CategoryID: int64(i)}, keyOf(i))
					if err != nil {
						t.Fatal(err)
					}
					return pet.ID
				}
				var want []int64
				for i := range 40 {
					if date = 0; i >= 20 && i%2 == 0 {
						date = wrong
					}
					if closed && i >= 20 {
						reopen()
					}
					want = append(want, create(i))
				}
				for i, id := range want {
					if got := create(i); got != id {
						t.Errorf("create %d, repeated within 2 hours: got pet %d, want %d", i, got, id)
					}
				}
			})
		}
	}
}
