package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// manyClients are how many create at once.
const manyClients = 64

// created is the pet that creations are measured with. It has a status,
// which makes it one of the costlier ones.
var created = petstore.NewPet{Name: "pet 00000000", CategoryID: 4, Status: petstore.StatusSold}

const createdBody = `{"name":"pet 00000000","categoryId":4,"status":"sold"}`

func (s *server) create() request {
	r := s.request("POST", "/pets")
	r.Body = createdBody
	return r
}

// createOne holds creations one after the other against a bare server that
// puts the same into a copy of the same file, and against what bbolt takes
// for one small record.
func (b *bench) createOne() (rows []row, err error) {
	path, err := b.copy(servedPets)
	if err != nil {
		return nil, err
	}
	barePath, err := b.copy(servedPets)
	if err != nil {
		return nil, err
	}
	puts, pet, err := putsOf(barePath, created)
	if err != nil {
		return nil, err
	}
	our, err := b.serve(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, our.stop()) }()
	raw, err := our.create().ask()
	if err != nil {
		return nil, err
	}
	bare, err := startBare(b.ctx, bareSettings{Response: raw, DB: barePath, Puts: puts, Last: pet.ID})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.end()) }()
	bareRequest := our.create()
	bareRequest.Addr = bare.addr
	if again, err := bareRequest.ask(); err != nil || varying.ReplaceAllString(string(raw), "") != varying.ReplaceAllString(string(again), "") {
		return nil, fmt.Errorf("the two sides give different answers to POST /pets: %q, %q (%w)", raw, again, err)
	}
	create := func() (side, error) { return b.latency(our.Pid(), our.create()) }
	pairs, err := b.interleave(create,
		func() (side, error) { return b.latency(bare.pid(), bareRequest) })
	if err != nil {
		return nil, err
	}
	rows = append(rows, row{
		Figure: "create, 1 client", Against: fmt.Sprintf("bare POST and a bbolt Update with the same %d puts, latency", len(puts)), Unit: inSeconds,
		Reach: limit{atMostRatio, 1.3}, Pairs: pairs,
	})
	m, err := b.newMinimal()
	if err != nil {
		return rows, err
	}
	pairs, err = b.interleave(create, m.latency)
	return append(rows, row{
		Figure: "create, 1 client", Against: "one bbolt Update with one put of 60 bytes, in process, latency", Unit: inSeconds, Pairs: pairs,
	}), errors.Join(err, m.db.Close())
}

// createMany holds creations of many clients at once against what bbolt's
// Batch makes of one small record each, in the same folder.
func (b *bench) createMany() (rows []row, err error) {
	path, err := b.copy(servedPets)
	if err != nil {
		return nil, err
	}
	our, err := b.serve(path)
	if err != nil {
		return nil, err
	}
	m, err := b.newMinimal()
	if err != nil {
		our.Kill()
		return nil, err
	}
	acknowledged := 0.0
	pairs, err := b.interleave(
		func() (side, error) {
			before := processTime(our.Pid())
			l, err := b.put(our.create(), manyClients)
			acknowledged += l.Requests
			return side{l.rate(), (processTime(our.Pid()) - before) / l.Requests}, err
		}, m.throughput)
	our.Kill()
	if err = errors.Join(err, m.db.Close()); err != nil {
		return nil, err
	}
	if err := b.allKept(path, int64(acknowledged)); err != nil {
		return nil, err
	}
	return []row{{
		Figure: fmt.Sprintf("create, %d clients", manyClients), Against: "bbolt Batch with one put of 60 bytes, in process, creations a second", Unit: perSecond,
		Reach: limit{atLeastRatio, 4}, Pairs: pairs,
		Note: fmt.Sprintf("the server was ended by kill -9, and all of the %.0f acknowledged creations were there", acknowledged),
	}}, nil
}

// allKept makes sure that the creations that were acknowledged are in the file.
func (b *bench) allKept(path string, acknowledged int64) error {
	s, err := storage.Open(path, nil)
	if err != nil {
		return err
	}
	stats, err := s.Stats(b.ctx)
	if kept := stats.Pets - servedPets; err == nil && kept < acknowledged {
		err = fmt.Errorf("%d creations were acknowledged, and %d are there after kill -9", acknowledged, kept)
	}
	return errors.Join(err, s.Close())
}

// minimal is a bbolt file at default options that small records are put into.
type minimal struct {
	*bench
	db   *bbolt.DB
	last atomic.Uint64
}

var minimalBucket = []byte("records")

const minimalValue = 60 // bytes

func (b *bench) newMinimal() (*minimal, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	db, err := bbolt.Open(filepath.Join(dir, "minimal.db"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	return &minimal{bench: b, db: db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(minimalBucket)
		return err
	})
}

// next returns a transaction that puts one more record.
func (m *minimal) next() func(*bbolt.Tx) error {
	key := binary.BigEndian.AppendUint64(nil, m.last.Add(1))
	return func(tx *bbolt.Tx) error {
		return tx.Bucket(minimalBucket).Put(key, make([]byte, minimalValue))
	}
}

// latency is a side: what half of a lone caller's Updates take at the most.
func (m *minimal) latency() (side, error) {
	before := processTime(self)
	var took []float64
	for start := time.Now(); time.Since(start) < m.duration; {
		one := time.Now()
		if err := m.db.Update(m.next()); err != nil {
			return side{}, err
		}
		took = append(took, time.Since(one).Seconds())
	}
	slices.Sort(took)
	return side{quantile(took, 0.5), (processTime(self) - before) / float64(len(took))}, nil
}

// throughput is a side: how many Batches a second as many callers get done as
// there are clients on the other.
func (m *minimal) throughput() (side, error) {
	before := processTime(self)
	var done atomic.Int64
	var failure error
	var once sync.Once
	var wg sync.WaitGroup
	start := time.Now()
	for range manyClients {
		wg.Go(func() {
			for time.Since(start) < m.duration {
				if err := m.db.Batch(m.next()); err != nil {
					once.Do(func() { failure = err })
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	n := float64(done.Load())
	return side{n / time.Since(start).Seconds(), (processTime(self) - before) / n}, failure
}
