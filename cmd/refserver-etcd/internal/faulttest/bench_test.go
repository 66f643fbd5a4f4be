//go:build linux

package faulttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

const (
	creators  = 64
	readers   = 16
	largePets = 500_000
	quota     = "--quota-backend-bytes=8589934592"
)

// way is one of the ways to do something that a benchmark compares.
type way struct {
	callers int // at the same time
	call    func(caller int) error
}

// compare measures two ways in turn, in the order A B B A and so on, so that both
// suffer alike if the speed of the machine changes. An iteration is a pair, each
// half a second long: -benchtime 5x reports the medians of five. One more pair is
// measured first and does not count: it fills caches.
func compare(b *testing.B, ours, theirs way) {
	b.Helper()
	ways, units := [2]way{ours, theirs}, [3]string{"ours/s", "theirs/s", "ratio"}
	var results [3][]float64
	pair := func(first int) (r [3]float64) {
		for i := range ways {
			at := (first + i) % 2
			r[at] = rate(b, ways[at])
		}
		r[2] = r[0] / r[1]
		return r
	}
	pair(0)
	for i := 1; b.Loop(); i++ {
		for j, value := range pair(i % 2) {
			results[j] = append(results[j], value)
		}
	}
	for i, unit := range units {
		slices.Sort(results[i])
		b.ReportMetric(results[i][len(results[i])/2], unit)
	}
	b.ReportMetric(0, "ns/op") // not shown then
}

// rate calls for half a second, and returns how many calls returned per second.
func rate(b *testing.B, w way) float64 {
	b.Helper()
	var count atomic.Int64
	start := time.Now()
	parallel(b, w.callers, func(caller int) (err error) {
		for err == nil && time.Since(start) < time.Second/2 {
			err = w.call(caller)
			count.Add(1)
		}
		return err
	})
	return float64(count.Load()) / time.Since(start).Seconds()
}

// parallel calls f from several goroutines.
func parallel(b *testing.B, callers int, f func(caller int) error) {
	b.Helper()
	errs := make(chan error)
	for caller := range callers {
		go func() { errs <- f(caller) }()
	}
	var err error
	for range callers {
		err = cmp.Or(err, <-errs)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// newPet returns the pet with that ID. Names have 12 bytes. Every sold-th pet is
// sold, and the others have no status.
func newPet(id, sold int64) petstore.Pet {
	p := petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: fmt.Sprintf("pet %08d", id), CategoryID: id % 100}}
	if id%sold == 0 {
		p.Status = petstore.StatusSold
	}
	return p
}

// open opens the store under a prefix and adds pets if it is empty.
func open(b *testing.B, c *cluster, prefix string, n, sold int64) *etcdstore.Store {
	b.Helper()
	s, err := etcdstore.Open(b.Context(), etcdstore.Config{Endpoints: etcd.URLs(c.members), Prefix: prefix, NewStore: true, RequestTimeout: 30 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for id := int64(1); id <= n; {
		var pets []petstore.Pet
		for ; id <= n && len(pets) < 10_000; id++ {
			pets = append(pets, newPet(id, sold))
		}
		if err := s.ImportPets(b.Context(), pets); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkCreate compares creations with one transaction for each, and those of
// four processes with those of one.
func BenchmarkCreate(b *testing.B) {
	c := newCluster(b, 0, quota)
	var stores []*etcdstore.Store
	for range 4 {
		stores = append(stores, open(b, c, "create/", 0, 1))
	}
	var counts [4]atomic.Int64
	create := func(store int) error {
		counts[store].Add(1)
		_, err := stores[store].CreatePet(b.Context(), newPet(4, 4).NewPet, petstore.Once{})
		return err
	}
	one := func(int) error { return create(0) }
	client := newClient(b, c.members[0].URL)
	simple := func(int) error { return createSimply(b.Context(), client, "simple/") }
	b.Run("clients=1", func(b *testing.B) { compare(b, way{1, one}, way{1, simple}) })
	b.Run("clients=64", func(b *testing.B) { compare(b, way{creators, one}, way{creators, simple}) })
	b.Run("processes=4", func(b *testing.B) {
		four := func(caller int) error { return create(caller % 4) }
		compare(b, way{4 * creators, four}, way{creators, one})
		b.Logf("creations of the other three: %d %d %d", counts[1].Load(), counts[2].Load(), counts[3].Load())
	})
}

// createSimply creates a pet in the simplest way: it reads a counter, and stores
// the pet in a transaction that compares the counter, until one succeeds.
func createSimply(ctx context.Context, client *clientv3.Client, prefix string) error {
	for counter := prefix + "counter"; ; {
		resp, err := client.Get(ctx, counter)
		if err != nil {
			return err
		}
		n, rev := int64(0), int64(0)
		if len(resp.Kvs) > 0 {
			rev = resp.Kvs[0].ModRevision
			n, _ = strconv.ParseInt(string(resp.Kvs[0].Value), 10, 64)
		}
		json, err := newPet(n+1, 4).AppendJSON(nil)
		if err != nil {
			return err
		}
		txn, err := client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(counter), "=", rev)).
			Then(clientv3.OpPut(counter, strconv.FormatInt(n+1, 10)), clientv3.OpPut(fmt.Sprintf("%spet/%016x", prefix, n+1), string(json))).
			Commit()
		if err != nil || txn.Succeeded {
			return err
		}
	}
}

// BenchmarkRead compares gets and list pages of 20 with a plain Get of etcd's
// client, which reads one block of pets. If one pet in a hundred is sold, no two
// of these pets are in one block.
func BenchmarkRead(b *testing.B) {
	c := newCluster(b, 0, quota)
	client := newClient(b, c.members[0].URL)
	for _, set := range []struct {
		name       string
		pets, sold int64
	}{{"small", 1000, 4}, {"large", largePets, 4}, {"rare", largePets, 100}} {
		s := open(b, c, set.name+"/", set.pets, set.sold)
		block, err := client.Get(b.Context(), set.name+"/p", clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil || len(block.Kvs) != 1 {
			b.Fatalf("no block of pets: %v", err)
		}
		plain := func(int) error {
			_, err := client.Get(b.Context(), string(block.Kvs[0].Key))
			return err
		}
		get := func(int) error {
			_, err := s.GetPet(b.Context(), set.pets/2)
			return err
		}
		b.Run(set.name+"/get", func(b *testing.B) { compare(b, way{readers, get}, way{readers, plain}) })
		for name, q := range map[string]petstore.ListQuery{
			"first":      {},
			"last":       {After: petstore.CursorAfter(set.pets - 20)},
			"first-sold": {Status: petstore.StatusSold},
			"last-sold":  {Status: petstore.StatusSold, After: petstore.CursorAfter(set.pets - 20*set.sold)},
		} {
			list := func(int) error {
				page, err := s.ListPets(b.Context(), q)
				if err == nil && len(page.Pets) != petstore.DefaultLimit {
					err = fmt.Errorf("a page of %d pets", len(page.Pets))
				}
				return err
			}
			b.Run(set.name+"/"+name, func(b *testing.B) { compare(b, way{readers, list}, way{readers, plain}) })
		}
	}
}
