package etcdstore_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// ranges returns how many reads of keys the member has counted.
func ranges(t *testing.T) (n float64) {
	t.Helper()
	resp, err := http.Get(endpoint + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "\netcd_mvcc_range_total ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal("the member does not count its reads: ", err)
	}
	return n
}

// How many reads a list page takes depends on its length and on how rare the
// status is, but not on the cursor.
func TestPageCost(t *testing.T) {
	const stored = 30_000
	prefix := newPrefix(t)
	var pets []petstore.Pet
	for id := int64(1); id <= stored; id++ {
		p := petstore.Pet{ID: id}
		if p.Status = petstore.StatusAvailable; id%100 == 0 {
			p.Status = petstore.StatusSold
		}
		pets = append(pets, p)
	}
	if err := open(t, etcdstore.Config{Prefix: prefix}).ImportPets(t.Context(), pets); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status petstore.Status
		limit  int
		want   float64 // with the index in the cache
		more   float64 // with an empty cache: the state, and up to 4 reads of the index
	}{
		{"", 20, 1, 0},
		{"", 100, 1, 0},
		{petstore.StatusAvailable, 20, 1, 1 + 4},
		{petstore.StatusAvailable, 100, 1, 1 + 4},
		{petstore.StatusSold, 20, 20, 1 + 4},
		{petstore.StatusSold, 100, 100, 1 + 4},
	} {
		for _, after := range []int64{0, stored / 2, stored - int64(tt.limit)*100 - 1} {
			t.Run(fmt.Sprintf("%d %s after %d", tt.limit, tt.status, after), func(t *testing.T) {
				var first, reads float64
				for range 20 { // a busy machine can make the store repeat a read, which must not count
					s := open(t, etcdstore.Config{Prefix: prefix})
					cost := func() float64 {
						before := ranges(t)
						page, err := s.ListPets(t.Context(), query(tt.status, after, tt.limit))
						if err != nil || len(page.Pets) != tt.limit {
							t.Fatalf("%d pets, %v", len(page.Pets), err)
						}
						return ranges(t) - before
					}
					first, reads = cost(), cost()
					s.Close()
					if first <= tt.want+tt.more && reads <= tt.want {
						return
					}
				}
				t.Errorf("the page took %v reads, %v the first time; want at most %v and %v more", reads, first, tt.want, tt.more)
			})
		}
	}
}
