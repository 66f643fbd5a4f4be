package etcdstore_test

import (
	"fmt"
	"io"
	"math"
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
	fill := open(t, etcdstore.Config{Prefix: prefix})
	var pets []petstore.Pet
	for id := int64(1); id <= stored; id++ {
		p := petstore.Pet{ID: id}
		if p.Status = petstore.StatusAvailable; id%100 == 0 {
			p.Status = petstore.StatusSold
		}
		pets = append(pets, p)
	}
	if err := fill.ImportPets(t.Context(), pets); err != nil {
		t.Fatal(err)
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status petstore.Status
		limit  int
		reads  float64 // with the index in the cache
		first  float64 // with an empty cache: the state, and up to 4 reads of the index
	}{
		{"", 20, 1, 1},
		{"", 100, 1, 1},
		{petstore.StatusAvailable, 20, 1, 1 + 4 + 1},
		{petstore.StatusAvailable, 100, 1, 1 + 4 + 1},
		{petstore.StatusSold, 20, 20, 1 + 4 + 20},
		{petstore.StatusSold, 100, 100, 1 + 4 + 100},
	} {
		for _, after := range []int64{0, stored / 2, stored - int64(tt.limit)*100 - 1} {
			t.Run(fmt.Sprintf("%d %s after %d", tt.limit, tt.status, after), func(t *testing.T) {
				q := query(tt.status, after, tt.limit)
				var s *etcdstore.Store
				first := least(t, tt.first, q, func() *etcdstore.Store {
					s = open(t, etcdstore.Config{Prefix: prefix})
					return s
				})
				reads := least(t, tt.reads, q, func() *etcdstore.Store { return s })
				if first > tt.first || reads > tt.reads {
					t.Errorf("the page took %v reads, %v the first time; want at most %v and %v", reads, first, tt.reads, tt.first)
				}
			})
		}
	}
}

// least returns the lowest number of reads that a list page takes in a few
// tries. It stops when that is at most enough. A busy machine can make the store
// repeat a read, which must not count.
func least(t *testing.T, enough float64, q petstore.ListQuery, store func() *etcdstore.Store) float64 {
	t.Helper()
	n := math.Inf(1)
	for range 5 {
		s := store()
		if err := s.Ready(t.Context()); err != nil { // connects
			t.Fatal(err)
		}
		before := ranges(t)
		page, err := s.ListPets(t.Context(), q)
		if err != nil || len(page.Pets) != q.Limit {
			t.Fatalf("%d pets, %v", len(page.Pets), err)
		}
		if n = min(n, ranges(t)-before); n <= enough {
			break
		}
	}
	return n
}
