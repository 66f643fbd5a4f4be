package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"example.com/animalstore/petstore"
)

// Store is an open store. It is safe for concurrent use, and any number of
// processes can open the same store.
type Store struct {
	config  Config
	members []*member       // in the order of the endpoints
	context context.Context // of commits, cleanups and checks; ends when the store is closed
	cancel  context.CancelFunc
	stopped sync.WaitGroup // for what runs until context ends

	cluster  uint64                // its ID
	revision atomic.Int64          // the highest in any response
	reading  atomic.Int64          // reads under way
	current  atomic.Int64          // modulo the number of members, the one to ask; see attempt
	newest   atomic.Pointer[state] // never nil once the store is open
	lists    cache

	mu      sync.Mutex
	queue   []*write
	waiting int       // bytes in queue
	filled  sync.Cond // there is something in queue, or the store is closed
	closed  bool

	committer committer

	failed context.Context // ends when the store fails, with the error of all calls from then on
	end    context.CancelCauseFunc
}

var (
	_ petstore.Service    = (*Store)(nil)
	_ petstore.Messages   = (*Store)(nil)
	_ petstore.Queue      = (*Store)(nil)
	_ petstore.Statistics = (*Store)(nil)
)

// Close commits the changes that were accepted, if the cluster responds, and
// closes the connections. Later calls fail with petstore.CodeUnavailable;
// another Close does nothing. If the store has failed, Close returns the error
// of [Store.Err].
func (s *Store) Close() error {
	s.mu.Lock()
	before := s.closed
	s.closed = true
	s.filled.Signal()
	s.mu.Unlock()
	if before {
		return nil
	}
	<-s.committer.stopped
	s.cancel()
	s.stopped.Wait()
	s.disconnect()
	return s.Err()
}

// Failed returns a channel that is closed when the cluster turns out to be
// another one than the one that was opened, or to be in an earlier state. What
// the store knows is then wrong, and every call fails with
// petstore.CodeUnavailable until the store is closed and opened again.
func (s *Store) Failed() <-chan struct{} { return s.failed.Done() }

// Err returns why the store has failed; nil if it has not.
func (s *Store) Err() error { return errors.Unwrap(context.Cause(s.failed)) }

func (s *Store) fail(err error) error {
	if s.failed.Err() == nil {
		s.config.Logger.Error("the store has failed: it refuses everything until it is opened again", "err", err)
	}
	s.end(unavailable("the store has failed and must be opened again", err))
	return context.Cause(s.failed)
}

// usable returns why a call cannot begin now, nil if it can.
func (s *Store) usable(ctx context.Context) error {
	if err := context.Cause(s.failed); err != nil {
		return err
	}
	if s.context.Err() != nil {
		return errClosed
	}
	return context.Cause(ctx)
}

// limit returns a context that ends at the request timeout, with the cause
// errLate.
func (s *Store) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.config.RequestTimeout, errLate)
}

// sameCluster makes sure that a response comes from the cluster that was opened,
// and from revision before or later, which was the highest one known when the
// request was sent.
func (s *Store) sameCluster(endpoint string, h *etcdserverpb.ResponseHeader, before int64) error {
	if h.ClusterId != s.cluster {
		return s.otherCluster(endpoint, h.ClusterId)
	}
	if h.Revision < before {
		return s.fail(fmt.Errorf("%s: the cluster went back from revision %d to %d: it was restored from a backup", endpoint, before, h.Revision))
	}
	for seen := s.revision.Load(); seen < h.Revision && !s.revision.CompareAndSwap(seen, h.Revision); {
		seen = s.revision.Load()
	}
	return nil
}

func (s *Store) otherCluster(endpoint string, id uint64) error {
	return s.fail(fmt.Errorf("%s leads to another cluster: its ID is %x, want %x", endpoint, id, s.cluster))
}

// Ready returns why the store cannot be used now, nil if it can: it has failed,
// is closed or damaged, or the cluster does not respond before ctx ends.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.state(ctx)
	return err
}

// state reads the counters.
func (s *Store) state(ctx context.Context) (*state, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	v, err := s.read(ctx, gets(stateKey)...)
	if err != nil {
		return nil, err
	}
	return s.stateOf(v)
}

// stateOf returns the state that is among v.
func (s *Store) stateOf(v values) (*state, error) {
	body, err := v.open(stateKey)
	if err != nil {
		return nil, err
	}
	st, err := decodeState(body, v[stateKey].ModRevision)
	if err != nil {
		return nil, err
	}
	s.saw(st)
	return st, nil
}

// saw keeps the newest state, in which reads plan what they need.
func (s *Store) saw(st *state) {
	for {
		old := s.newest.Load()
		if old != nil && old.rev >= st.rev || s.newest.CompareAndSwap(old, st) {
			return
		}
	}
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (petstore.Stats, error) {
	st, err := s.state(ctx)
	if err != nil {
		return petstore.Stats{}, err
	}
	return petstore.Stats{Pets: st.lastPet, QueuedMessages: st.queued}, nil
}
