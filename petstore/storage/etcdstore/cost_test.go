package etcdstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

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
		want   int64 // with the index in the cache
		more   int64 // with an empty cache: the state, and up to 4 reads of the index
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
				var reads atomic.Int64
				s := open(t, etcdstore.Config{Prefix: prefix}.Intercepted(func(_ string, req any, send func() error) error {
					err := send()
					if err != nil {
						return err
					}
					txn := req.(*etcdserverpb.TxnRequest)
					for _, op := range txn.Success {
						if r := op.GetRequestRange(); r == nil {
							t.Errorf("a list sends more than reads, which etcd proposes to all members: %v", txn)
						} else if !r.Serializable { // otherwise it checks the endpoint
							reads.Add(1)
						}
					}
					return nil
				}))
				defer s.Close()
				cost := func() int64 {
					before := reads.Load()
					page, err := s.ListPets(t.Context(), query(tt.status, after, tt.limit))
					if err != nil || len(page.Pets) != tt.limit {
						t.Fatalf("%d pets, %v", len(page.Pets), err)
					}
					return reads.Load() - before
				}
				first, again := cost(), cost()
				if first > tt.want+tt.more || again != tt.want {
					t.Errorf("the page took %d reads, %d the first time; want %d and at most %d more", again, first, tt.want, tt.more)
				}
			})
		}
	}
}
