// Package memory keeps pets and messages in memory, for tests and trials. Start
// with [New]. Nothing outlives the process.
//
// It is the simplest store that can be correct: everything happens under one
// lock, in slices that are in order already.
package memory

import (
	"cmp"
	"context"
	"sync"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Options are the settings of a [Store]. The zero value and nil are ready for
// use.
type Options struct {
	// QueueCapacity is how many messages may be queued at once.
	// 0: 100,000.
	QueueCapacity int
}

// Store is a store in memory. It is safe for concurrent use.
type Store struct {
	capacity int

	mu          sync.RWMutex
	closed      bool
	pets        []petstore.Pet // the pet with ID n at n-1
	queue       []petstore.Message
	lastMessage int64
	created     outcomes[petstore.Pet]
	submitted   outcomes[petstore.Message]
}

var (
	_ petstore.Service    = (*Store)(nil)
	_ petstore.Messages   = (*Store)(nil)
	_ petstore.Queue      = (*Store)(nil)
	_ petstore.Statistics = (*Store)(nil)
)

// New returns an empty store. opts may be nil.
func New(opts *Options) *Store {
	if opts == nil {
		opts = &Options{}
	}
	return &Store{
		capacity:  cmp.Or(opts.QueueCapacity, rules.QueueCapacity),
		created:   outcomes[petstore.Pet]{},
		submitted: outcomes[petstore.Message]{},
	}
}

// Close makes every later call fail with petstore.CodeUnavailable. It always
// returns nil.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (petstore.Stats, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return petstore.Stats{}, err
	}
	return petstore.Stats{Pets: int64(len(s.pets)), QueuedMessages: int64(len(s.queue))}, nil
}

// usable returns the reason why nothing can be done now, if there is one. The
// caller holds the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return petstore.Errorf(petstore.CodeUnavailable, "the store is closed")
	}
	return ctx.Err()
}

// outcomes are the results of creates with an idempotency key, expired or not.
type outcomes[T any] map[petstore.IdempotencyKey]outcome[T]

type outcome[T any] struct {
	value T
	made  time.Time
}

// find returns the result of an earlier create.
func (o outcomes[T]) find(key petstore.IdempotencyKey, now time.Time) (T, bool) {
	earlier, ok := o[key]
	return earlier.value, ok && now.Sub(earlier.made) <= petstore.IdempotencyWindow
}

func (o outcomes[T]) add(key petstore.IdempotencyKey, value T, now time.Time) {
	if key.Key != "" {
		o[key] = outcome[T]{value, now}
	}
}
