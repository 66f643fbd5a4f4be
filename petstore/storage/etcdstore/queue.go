package etcdstore

import (
	"context"
	"slices"
	"time"
)

// The limits of what may wait and of what one transaction takes. etcd accepts
// 128 operations and 1.5 MiB. 512 pets need at most 33 blocks, 5 marks and 7
// blocks of indexes. Every transaction also has operations for the state, the
// mark of the process, the last loser and a record of outcomes. The other
// operations are for long texts, messages and outcomes.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxBatch        = 512
	maxOps          = 128 - (33 + 5 + 7 + 4)
	maxBatchBytes   = 1 << 20
)

// write is the change of one caller.
type write struct {
	apply func(*update) error
	ops   int      // how many operations it needs, at most, besides blocks and those of every transaction
	size  int      // how many bytes of the request it takes, at most, roughly
	once  string   // the key of the outcome; "": the outcome is not kept
	needs []string // keys that apply looks at; unless alone, the first attempt assumes that they do not exist
	alone bool     // needs a transaction of its own, built on what its needs hold
	err   error    // of apply, or of the transaction; valid once done is closed
	done  chan struct{}
}

// change queues a write and returns once it is on stable storage, or with an
// error.
//
// If ctx ends before the write is in a transaction, the change is not made. After
// that, change waits for the outcome until the request timeout.
func (s *Store) change(ctx context.Context, w *write) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	w.done = make(chan struct{})
	if err := s.enqueue(w); err != nil {
		return err
	}
	limit, cancel := s.limit(context.Background())
	defer cancel()
	select {
	case <-w.done:
	case <-ctx.Done():
		if s.withdraw(w) {
			return ctx.Err()
		}
	case <-limit.Done():
		if s.withdraw(w) {
			return errNotSent
		}
	}
	select {
	case <-w.done:
		return w.err
	case <-limit.Done():
		return unknown(nil)
	}
}

func (s *Store) enqueue(w *write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if len(s.queue) == maxWaiting || s.waiting+w.size > maxWaitingBytes {
		return errBusy
	}
	s.queue = append(s.queue, w)
	s.waiting += w.size
	s.filled.Signal()
	return nil
}

// withdraw removes a write from the queue. It reports false if the write is in a
// transaction.
func (s *Store) withdraw(w *write) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, w)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	s.waiting -= w.size
	return true
}

// take waits for writes and takes those that fit into one transaction. It returns
// none when the store is closed and nothing is waiting.
func (s *Store) take() []*write {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.filled.Wait()
	}
	n, ops, size := 0, 0, 0
	for _, w := range s.queue[:min(len(s.queue), maxBatch)] {
		if n > 0 && (w.alone || s.queue[0].alone || ops+w.ops > maxOps || size+w.size > maxBatchBytes) {
			break
		}
		n, ops, size = n+1, ops+w.ops, size+w.size
	}
	batch := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	s.waiting -= size
	return batch
}

// commitAll commits until the store is closed and nothing is waiting. Each
// transaction takes what has queued up during the one before. So a lone caller
// never waits for others, and many callers share a transaction.
func (s *Store) commitAll() {
	defer close(s.committer.stopped)
	for batch := s.take(); len(batch) > 0; batch = s.take() {
		start := time.Now()
		err := s.commit(batch)
		if err == nil {
			s.config.Committed(len(batch), time.Since(start))
		}
		for _, w := range batch {
			if err != nil {
				w.err = err // even if it changed nothing: it may depend on a write before it
			}
			close(w.done)
		}
		sleep(s.context, s.committer.pause)
	}
}
