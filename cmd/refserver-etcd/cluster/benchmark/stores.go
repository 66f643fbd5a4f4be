package main

import (
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// open opens a store under a prefix.
func (b *bench) open(prefix string) (*etcdstore.Store, error) {
	return etcdstore.Open(b.ctx, etcdstore.Config{
		Endpoints:      b.cluster.Endpoints(),
		Prefix:         prefix,
		NewStore:       true,
		RequestTimeout: 30 * time.Second,
	})
}

// pet returns the pet with that ID. Names have 12 bytes. Of four pets in a row,
// one has no status and each of the others another one.
func pet(id int64) petstore.Pet {
	p := petstore.Pet{ID: id}
	p.Name = fmt.Sprintf("pet %08d", id)
	p.CategoryID = id % 100
	if s := id % 4; s > 0 {
		p.Status = petstore.Statuses()[s-1]
	}
	return p
}

// fill adds pets to an empty store.
func (b *bench) fill(s *etcdstore.Store, n int64, pet func(id int64) petstore.Pet) error {
	start := time.Now()
	const part = 10_000
	for first := int64(1); first <= n; first += part {
		var pets []petstore.Pet
		for id := first; id < min(first+part, n+1); id++ {
			pets = append(pets, pet(id))
		}
		if err := s.ImportPets(b.ctx, pets); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.log, "%d pets added in %v\n", n, time.Since(start).Round(time.Second))
	return nil
}

// oneByOne creates a pet in the simplest way: it reads a counter, and stores the
// pet in a transaction that compares the counter, until one succeeds.
func oneByOne(b *bench, prefix string) error {
	for {
		resp, err := b.client.Get(b.ctx, prefix+"counter")
		if err != nil {
			return err
		}
		n, rev := int64(0), int64(0)
		if len(resp.Kvs) > 0 {
			rev = resp.Kvs[0].ModRevision
			if n, err = strconv.ParseInt(string(resp.Kvs[0].Value), 10, 64); err != nil {
				return err
			}
		}
		json, err := pet(n + 1).AppendJSON(nil)
		if err != nil {
			return err
		}
		txn, err := b.client.Txn(b.ctx).
			If(clientv3.Compare(clientv3.ModRevision(prefix+"counter"), "=", rev)).
			Then(clientv3.OpPut(prefix+"counter", strconv.FormatInt(n+1, 10)),
				clientv3.OpPut(fmt.Sprintf("%spet/%016x", prefix, n+1), string(json))).
			Commit()
		if err != nil {
			return err
		}
		if txn.Succeeded {
			return nil
		}
	}
}

// create creates one pet, as the measured clients do.
func (b *bench) create(s *etcdstore.Store) error {
	p := petstore.NewPet{Name: "pet 00000000", CategoryID: 4, Status: petstore.StatusSold}
	_, err := s.CreatePet(b.ctx, p, petstore.Once{})
	return err
}

const clients = 64

func (b *bench) creates() error {
	s, err := b.open("creates/")
	if err != nil {
		return err
	}
	defer s.Close()
	one := func() (float64, error) { return b.rate(clients, func(int) error { return b.create(s) }) }
	if _, _, err := b.compare("creations by 64 clients", "one transaction a creation by 64 clients", "≥ 20", one,
		func() (float64, error) { return b.rate(clients, func(int) error { return oneByOne(b, "onebyone/") }) }); err != nil {
		return err
	}
	if _, _, err := b.compare("creations by 1 client", "one transaction a creation by 1 client", "",
		func() (float64, error) { return b.rate(1, func(int) error { return b.create(s) }) },
		func() (float64, error) { return b.rate(1, func(int) error { return oneByOne(b, "onebyone/") }) }); err != nil {
		return err
	}
	var four []*etcdstore.Store
	for range 4 {
		s, err := b.open("creates/")
		if err != nil {
			return err
		}
		defer s.Close()
		four = append(four, s)
	}
	var shares [4]float64
	many := func() (float64, error) {
		var counts [4][clients]int
		total, err := b.rate(4*clients, func(c int) error {
			counts[c%4][c/4]++
			return b.create(four[c%4])
		})
		for i := range counts {
			for _, n := range counts[i] {
				shares[i] += float64(n)
			}
		}
		return total, err
	}
	_, _, err = b.compare("creations by 4 processes with 64 clients each", "1 process with 64 clients", "≥ 0.80", many, one)
	fmt.Fprintf(b.log, "creations of each of the 4: %.0f\n", shares)
	return err
}
