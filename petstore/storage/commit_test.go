package storage_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
)

// TestWaiting lets changes wait for a commit. As many as may wait are made by the next one, even
// if their contexts end or the store is closed meanwhile; further ones are refused at once.
func TestWaiting(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	before := lastCommit(process.ReadFile(t, path))
	release := s.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error)
	const waiting, refused = 1024, 10
	for range waiting + refused {
		go func() {
			_, err := s.CreatePet(ctx, petstore.NewPet{}, petstore.IdempotencyKey{})
			results <- err
		}()
	}
	for range refused {
		if err := <-results; petstore.CodeOf(err) != petstore.CodeUnavailable {
			t.Errorf("more changes than may wait: %v", err)
		}
	}
	cancel()
	var closing sync.WaitGroup
	closing.Go(func() { s.Close() })
	release()
	for range waiting {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	closing.Wait()
	if commits := lastCommit(process.ReadFile(t, path)) - before; commits != 1 {
		t.Errorf("%d changes had %d commits, want 1", waiting, commits)
	}
}

// TestExpiredOutcomes: outcomes that have expired are deleted as others are added.
func TestExpiredOutcomes(t *testing.T) { synctest.Test(t, testExpiredOutcomes) }

func testExpiredOutcomes(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	s.NoSync()
	outcomes := func() (n int) {
		process.WriteFile(t, path+".copy", process.ReadFile(t, path))
		edit(t, path+".copy", func(tx *bbolt.Tx) error {
			n = tx.Bucket([]byte("outcomes")).Stats().KeyN
			return nil
		})
		return n
	}
	const each = 400
	for day := range 4 {
		inParallel(t, day*each, (day+1)*each, func(n int) error {
			_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
			return err
		})
		if n := outcomes(); n < each || n > 5*each/2 {
			t.Errorf("%d outcomes are stored on day %d, of which %d have not expired", n, day, each)
		}
		time.Sleep(25 * time.Hour)
	}
	// The outcomes of the last day have expired, and are still there.
	if _, err := s.CreatePet(t.Context(), petOf(1), keyOf(4*each-1)); err != nil {
		t.Errorf("an expired key with another value: %v", err)
	}
}
