package storage_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func benchStore(b *testing.B, pets int) *storage.Store {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "pets.db"))
	statuses := append(petstore.Statuses(), "")
	inParallel(b, 0, pets, func(i int) error {
		p := petstore.NewPet{Name: fmt.Sprintf("pet %5d", i), CategoryID: int64(i % 10), Status: statuses[i%4]}
		_, err := s.CreatePet(b.Context(), p, petstore.Once{})
		return err
	})
	return s
}

func BenchmarkRead(b *testing.B) {
	s := benchStore(b, 10000)
	ctx := context.Background()
	var buf []byte
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			var err error
			if buf, err = s.AppendPet(ctx, buf[:0], int64(i%10000)+1); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, q := range []petstore.ListQuery{
		{}, {Limit: 100}, {Limit: 100, Status: petstore.StatusSold}, {Limit: 100, After: petstore.CursorAfter(5000)},
	} {
		b.Run(fmt.Sprintf("list/limit=%d,status=%s,after=%v", q.Limit, q.Status, q.After != ""), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, _, err = s.AppendPage(ctx, buf[:0], q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	var keys atomic.Int64
	for _, keyed := range []bool{false, true} {
		create := func(b *testing.B, s *storage.Store) {
			p := petstore.NewPet{Name: "pet 12345", Status: petstore.StatusSold}
			var once petstore.Once
			if keyed {
				once.Key = fmt.Sprint(keys.Add(1))
			}
			if _, err := s.CreatePet(context.Background(), p, once); err != nil {
				b.Error(err)
			}
		}
		b.Run(fmt.Sprintf("keyed=%v/callers=1", keyed), func(b *testing.B) {
			s := benchStore(b, 1000)
			b.ReportAllocs()
			for b.Loop() {
				create(b, s)
			}
		})
		b.Run(fmt.Sprintf("keyed=%v/callers=64", keyed), func(b *testing.B) {
			s := benchStore(b, 1000)
			b.ReportAllocs()
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					create(b, s)
				}
			})
		})
	}
}

// BenchmarkBolt is what the file format costs by itself: one record of 60
// bytes for one caller, and DB.Batch as it comes for 64.
func BenchmarkBolt(b *testing.B) {
	open := func(b *testing.B) (*bbolt.DB, []byte) {
		db, err := bbolt.Open(filepath.Join(b.TempDir(), "bolt.db"), 0o600, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("b")); return err })
		return db, make([]byte, 60)
	}
	var n atomic.Int64
	put := func(tx *bbolt.Tx, value []byte) error {
		return tx.Bucket([]byte("b")).Put(fmt.Appendf(nil, "%020d", n.Add(1)), value)
	}
	b.Run("Update", func(b *testing.B) {
		db, value := open(b)
		for b.Loop() {
			if err := db.Update(func(tx *bbolt.Tx) error { return put(tx, value) }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Batch/callers=64", func(b *testing.B) {
		db, value := open(b)
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := db.Batch(func(tx *bbolt.Tx) error { return put(tx, value) }); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
