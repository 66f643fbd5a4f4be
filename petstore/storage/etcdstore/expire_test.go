package etcdstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// createWithKeys creates n pets, each with its own idempotency key, and returns
// their IDs. The name of each pet is kind, and its key starts with kind.
func createWithKeys(t *testing.T, s *etcdstore.Store, kind string, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			ids[i] = create(t, s, petstore.NewPet{Name: kind}, fmt.Sprint(kind, i)).ID
		})
	}
	wg.Wait()
	return ids
}

// expireUntil lets a store delete expired outcomes until the cluster has want
// outcomes.
func expireUntil(t *testing.T, c *clientv3.Client, s *etcdstore.Store, prefix string, want int64) {
	t.Helper()
	etcd.Eventually(t, "the outcomes have expired", func() error {
		if err := s.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, c, prefix+"o"); n != want {
			return fmt.Errorf("%d outcomes are left, want %d", n, want)
		}
		return nil
	})
}

// How long outcomes are kept does not depend on the clock of a process.
func TestClocks(t *testing.T) {
	prefix, client := newPrefix(t), clientOf(t, endpoint)
	config := etcdstore.Config{Prefix: prefix}
	at := func(d time.Duration) etcdstore.Config {
		c := config
		c.Now = func() time.Time { return time.Now().Add(d) }
		return c
	}
	kept := open(t, config)
	ids := createWithKeys(t, kept, "kept", 100)
	const brief = 10 * time.Second // a commit that takes longer fails
	ahead := open(t, at(10*365*24*time.Hour).KeptFor(brief))
	createWithKeys(t, ahead, "ahead", 1)
	createWithKeys(t, open(t, config.KeptFor(brief)), "brief", 500)
	createWithKeys(t, open(t, at(-10*365*24*time.Hour).KeptFor(brief)), "behind", 1)

	idle := open(t, at(25*time.Hour))
	if err := idle.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("an idle process 25 hours ahead deleted %d outcomes", 602-count(t, client, prefix+"o"))
	late := make(chan *etcdserverpb.TxnRequest, 1000)
	expireUntil(t, client, open(t, config.Intercepted(func(_ string, req any, send func() error) error {
		if r, ok := req.(*etcdserverpb.TxnRequest); ok && r.Success[0].GetRequestRange() == nil {
			late <- r
		}
		return send()
	})), prefix, 100)
	for i, id := range createWithKeys(t, kept, "kept", 100) {
		if id != ids[i] {
			t.Errorf("a repeated creation returned the pet %d, want %d", id, ids[i])
		}
	}
	// The expiry of an outcome does not end a later outcome of the same key, even if
	// it is carried out again.
	again := createWithKeys(t, kept, "brief", 500)
	for len(late) > 0 {
		_, _ = etcdserverpb.NewKVClient(client.ActiveConnection()).Txn(t.Context(), <-late)
	}
	for i, id := range createWithKeys(t, ahead, "brief", 500) {
		if id <= 602 || id != again[i] {
			t.Errorf("a creation after an outcome expired returned the pet %d, its repetition %d", again[i], id)
		}
	}
	// What is left belongs to the processes whose outcomes are kept.
	if n, leases := count(t, client, prefix+"w"), count(t, client, prefix+"t"); n > leases {
		t.Errorf("%d marks and %d leases are left", n, leases)
	}
}

// A process whose name no longer has a lease stores nothing under it: the
// outcome could be deleted at once. A machine that sleeps in the middle of a
// creation for longer than the lease comes to that too.
func TestLostLease(t *testing.T) {
	url := newCluster(t)
	s, client := open(t, etcdstore.Config{Endpoints: []string{url}, RequestTimeout: time.Hour}), clientOf(t, url)
	createWithKeys(t, s, "before", 1)
	leases, err := client.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("%+v, %v", leases, err)
	}
	if _, err := client.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	pet, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{Key: "k"})
	if petstore.CodeOf(err) == petstore.CodeUnavailable {
		pet, err = s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{Key: "k"})
	}
	if err != nil || pet.ID != 2 {
		t.Fatalf("%+v, %v", pet, err)
	}
	if err := s.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := create(t, s, petstore.NewPet{}, "k"); again != pet {
		t.Errorf("repeated: %+v", again)
	}
}

// Expiry deletes no record of another store, even if its prefix starts with that
// of this one, which it must not.
func TestExpireBesideStore(t *testing.T) {
	prefix := newPrefix(t)
	s := open(t, etcdstore.Config{Prefix: prefix})
	create(t, s, petstore.NewPet{}, "k")
	for _, more := range []string{"wea", "web/", "when we/"} {
		other := open(t, etcdstore.Config{Prefix: prefix + more})
		create(t, other, petstore.NewPet{}, "k")
		defer func() {
			if stats, err := other.Stats(t.Context()); err != nil || stats.Pets != 1 {
				t.Errorf("the store beside it has %+v (%v)", stats, err)
			}
		}()
	}
	for range 2 {
		_ = s.Expire(t.Context()) // reports keys that it does not know
	}
}
