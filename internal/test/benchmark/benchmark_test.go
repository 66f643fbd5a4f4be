// Package benchmark compares the handler with net/http alone, and the store with bbolt
// alone:
//
//	go test -run '^$' -bench . ./internal/test/benchmark
//
// docs/performance.md has figures.
package benchmark

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// pets is how many pets a store has.
const pets = 1000

func newPet(i int64) petstore.NewPet {
	return petstore.NewPet{Name: fmt.Sprintf("pet %08d", i), CategoryID: i % 100, Status: append(petstore.Statuses(), "")[i%4]}
}

func newStore(b *testing.B) *storage.Store {
	b.Helper()
	s, err := storage.Open(filepath.Join(b.TempDir(), "pets.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	var creators sync.WaitGroup // a few commits have all their pets
	for i := range int64(pets) {
		creators.Go(func() {
			if _, err := s.CreatePet(b.Context(), newPet(i), petstore.IdempotencyKey{}); err != nil {
				b.Error(err)
			}
		})
	}
	creators.Wait()
	return s
}

// BenchmarkHandler sends requests to the handler, on a store in a file, and to one that only
// writes the same response.
func BenchmarkHandler(b *testing.B) {
	h := httpapi.New(newStore(b), testserver.Authenticator, nil)
	after := petstore.CursorAfter(pets / 2)
	for _, r := range []struct{ name, path string }{
		{"get", fmt.Sprint("/pets/", pets/2)},
		{"list-20", fmt.Sprint("/pets?cursor=", after)},
		{"list-100", fmt.Sprint("/pets?limit=100&cursor=", after)},
		{"sold-100", fmt.Sprint("/pets?limit=100&status=sold&cursor=", after)},
	} {
		request := httptest.NewRequest("GET", r.path, nil)
		request.Header.Set("Authorization", "Bearer "+testserver.Key)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, request)
		b.Run(r.name+"/petstore", func(b *testing.B) { benchmarkHTTP(b, h, request) })
		b.Run(r.name+"/net-http", func(b *testing.B) {
			benchmarkHTTP(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), rec.Header())
				w.WriteHeader(rec.Code)
				_, _ = w.Write(rec.Body.Bytes())
			}), request)
		})
	}
}

// benchmarkHTTP sends requests over several connections for each processor.
func benchmarkHTTP(b *testing.B, h http.Handler, request *http.Request) {
	srv := httptest.NewServer(h)
	defer srv.Close()
	var text bytes.Buffer
	_ = request.Write(&text) // to memory
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		in := bufio.NewReaderSize(conn, 1<<16)
		for pb.Next() {
			_, _ = conn.Write(text.Bytes()) // after an error there is no response
			resp, err := http.ReadResponse(in, request)
			if err == nil && resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkStore compares the store with a bucket of bbolt that has the pets' JSON. Each
// of 64 creators waits until its pet is on disk.
func BenchmarkStore(b *testing.B) {
	s := newStore(b)
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	bucket := []byte("pets")
	put := func(tx *bbolt.Tx) error {
		pets, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		id, _ := pets.NextSequence() // no error in a write
		text, err := petstore.Pet{ID: int64(id), NewPet: newPet(int64(id))}.AppendJSON(nil)
		return errors.Join(err, pets.Put(binary.BigEndian.AppendUint64(nil, id), text))
	}
	get := func(tx *bbolt.Tx) error {
		if tx.Bucket(bucket).Get(binary.BigEndian.AppendUint64(nil, pets/2)) == nil {
			return petstore.ErrNotFound
		}
		return nil
	}
	create := func() error {
		_, err := s.CreatePet(b.Context(), newPet(1), petstore.IdempotencyKey{})
		return err
	}
	for range pets {
		if err := db.Update(put); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		creators int
		do       func() error
	}{
		{"get/petstore", 1, func() error { _, err := s.GetPet(b.Context(), pets/2); return err }},
		{"get/bbolt", 1, func() error { return db.View(get) }},
		{"create-1/petstore", 1, create},
		{"create-1/bbolt", 1, func() error { return db.Update(put) }},
		{"create-64/petstore", 64, create},
		{"create-64/bbolt", 64, func() error { return db.Batch(put) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var left atomic.Int64
			left.Store(int64(b.N))
			errs := make(chan error)
			for range c.creators {
				go func() {
					var err error
					for err == nil && left.Add(-1) >= 0 {
						err = c.do()
					}
					errs <- err
				}()
			}
			for range c.creators {
				if err := <-errs; err != nil {
					b.Error(err)
				}
			}
		})
	}
}
