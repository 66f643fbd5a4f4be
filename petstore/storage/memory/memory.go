// Package memory keeps pets and messages in memory, for tests and trials. Start
// with [New]. Nothing outlives the process.
//
// It is the simplest store that can be correct: everything happens under one
// lock, in slices that are in order already. So it is also the oracle that the
// tests of the durable stores compare results with.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// Options are the settings of a [Store]. The zero value and nil are ready for
// use.
type Options struct {
	// Now returns the time, for Message.CreatedAt and for how long results of
	// creates are remembered. nil: time.Now.
	Now func() time.Time

	// QueueCapacity is how many messages may be queued at once.
	// 0: petstore.DefaultQueueCapacity.
	QueueCapacity int
}

// Store is a store in memory. It is safe for concurrent use.
type Store struct {
	now      func() time.Time
	capacity int

	mu          sync.RWMutex
	closed      bool
	pets        []petstore.Pet // the pet with ID n at n-1
	queue       []petstore.Message
	lastMessage int64

	outcomes map[[32]byte]outcome
	oldest   [][32]byte // the keys of outcomes, in the order they were made
}

// outcome is the result of a create with a Once.
type outcome struct {
	made    time.Time
	pet     petstore.Pet     // of a CreatePet
	message petstore.Message // of a SubmitMessage
}

var (
	_ petstore.Service       = (*Store)(nil)
	_ petstore.EncodedReader = (*Store)(nil)
	_ petstore.Messages      = (*Store)(nil)
	_ petstore.Queue         = (*Store)(nil)
	_ petstore.Statistics    = (*Store)(nil)
)

// New returns an empty store. opts may be nil.
func New(opts *Options) *Store {
	s := &Store{
		now:      time.Now,
		capacity: petstore.DefaultQueueCapacity,
		outcomes: make(map[[32]byte]outcome),
	}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	if opts != nil && opts.QueueCapacity != 0 {
		s.capacity = opts.QueueCapacity
	}
	return s
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

// recall looks up the outcome of an earlier create. The caller holds the lock
// for writing.
func (s *Store) recall(operation string, once petstore.Once) (outcome, bool) {
	s.forget()
	if once.IsZero() {
		return outcome{}, false
	}
	o, ok := s.outcomes[once.Digest(operation)]
	return o, ok
}

// remember keeps the outcome of a create. The caller holds the lock for
// writing.
func (s *Store) remember(operation string, once petstore.Once, o outcome) {
	if once.IsZero() {
		return
	}
	key := once.Digest(operation)
	o.made = s.now()
	s.outcomes[key] = o
	s.oldest = append(s.oldest, key)
}

// forget drops the outcomes that are older than OnceKept.
func (s *Store) forget() {
	before := s.now().Add(-petstore.OnceKept)
	n := 0
	for n < len(s.oldest) && s.outcomes[s.oldest[n]].made.Before(before) {
		delete(s.outcomes, s.oldest[n])
		n++
	}
	s.oldest = slices.Delete(s.oldest, 0, n)
}
