package storage

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
)

// What may wait, what one transaction takes, and how long it waits for more. A
// full queue means that the disk is slower than the callers: they are told at
// once, while memory is bounded, instead of each of them waiting its turn for
// ever.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxBatch        = 1024
	maxBatchBytes   = 16 << 20
	maxGather       = 5 * time.Millisecond
)

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// write is one caller's change, on its way to the disk.
type write struct {
	apply func(*update) error
	size  int64
	taken atomic.Bool // by a commit, or by a caller that gave up
	err   error       // of apply, or of the transaction; valid once done is closed
	done  chan struct{}
}

// update is a transaction that several writes share.
type update struct {
	*bbolt.Tx
	state
	guard guard
	now   int64 // nanoseconds since 1970
	err   error // the first failure of the transaction itself

	// The ends of the tables of pets, as far as any were added.
	all      *tail
	byStatus [3]*tail
}

// put changes a record, after a check of its page. If put or delete fails, the
// whole transaction fails, not a single write.
func (u *update) put(b *bbolt.Bucket, key, value []byte) {
	err := u.guard.path(b, key, false)
	if err == nil {
		err = b.Put(key, value)
	}
	u.note(err)
}

// delete deletes a record, after a check of its page, and reports whether there
// was one.
func (u *update) delete(b *bbolt.Bucket, key []byte) (found bool) {
	err := u.guard.path(b, key, true)
	if err == nil {
		found = b.Get(key) != nil
		err = b.Delete(key)
	}
	u.note(err)
	return found
}

func (u *update) note(err error) {
	if u.err == nil {
		u.err = err
	}
}

// change runs apply in a transaction and returns once that is on disk. An
// apply that returns an error must not have changed anything. size is about
// how many bytes it writes.
//
// If ctx ends first, the change is abandoned, unless it is already being
// written: then change waits for its outcome and returns that.
//
// One of the callers commits, for all that are waiting, while the others wait.
// A separate goroutine would slow down a lone caller: to wake it takes as long
// as a good part of the commit.
func (s *Store) change(ctx context.Context, size int, apply func(*update) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	w := &write{apply: apply, size: int64(size), done: make(chan struct{})}
	if err := s.enqueue(w); err != nil {
		return err
	}
	given := ctx.Done()
	for {
		select {
		case <-w.done:
			return w.err
		case s.turn <- struct{}{}:
			s.lead(w)
		case <-s.wedged:
			return s.failure.Load()
		case <-given:
			if w.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			given = nil
		}
	}
}

// lead has the turn: it commits until w is done, and gives the turn back.
func (s *Store) lead(w *write) {
	defer func() { <-s.turn }()
	for {
		select {
		case <-w.done:
			return
		default:
			s.commitNext()
		}
	}
}

func (s *Store) enqueue(w *write) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if w.size > maxWaitingBytes {
		return petstore.Errorf(petstore.CodeInvalid, "the change must take at most %d bytes when encoded, got %d", maxWaitingBytes, w.size)
	}
	if s.pending.Add(w.size) > maxWaitingBytes {
		s.pending.Add(-w.size)
		return errBusy
	}
	select {
	case s.writes <- w:
		return nil
	default:
		s.pending.Add(-w.size)
		return errBusy
	}
}

// group is what is known of the last commit, and room for the next. It belongs
// to whoever has the turn.
type group struct {
	batch   []*write
	took    time.Duration
	callers int
}

// commitNext commits what is queued, if there is anything. The caller has the
// turn.
func (s *Store) commitNext() {
	g := &s.group
	select {
	case first := <-s.writes:
		g.batch = append(g.batch[:0], first)
	default:
		return
	}
	runtime.Gosched() // on one processor, others that are ready to ask have not been able to
	s.gather()
	begun := time.Now()
	s.commit(g.batch)
	g.took, g.callers = time.Since(begun), len(g.batch)
	clear(g.batch)
}

// gather adds to a batch what has queued up. If there were more callers in the
// last commit it waits for as many, as long as that took: those that it
// answered may be about to come again, and to commit without them would make
// two syncs of one. Where they do not come, fewer are waited for the next
// time: the first that comes alone waits once, and after that no more.
func (s *Store) gather() {
	g := &s.group
	size := g.batch[0].size
	defer func() { s.pending.Add(-size) }()
	var enough <-chan time.Time
	for len(g.batch) < maxBatch && size < maxBatchBytes {
		var w *write
		select {
		case w = <-s.writes:
		default:
			if len(g.batch) >= g.callers {
				return
			}
			if enough == nil {
				enough = time.After(min(g.took, maxGather))
			}
			select {
			case w = <-s.writes:
			case <-enough:
				return
			}
		}
		g.batch = append(g.batch, w)
		size += w.size
	}
}

// commit makes one transaction of batch and tells every caller how it went.
func (s *Store) commit(batch []*write) {
	live := batch[:0]
	for _, w := range batch {
		if w.taken.CompareAndSwap(false, true) {
			live = append(live, w)
		}
	}
	if len(live) == 0 {
		return
	}
	err := s.markOpen()
	if err == nil {
		err = s.update(func(u *update) error {
			for _, w := range live {
				if w.err = w.apply(u); u.err != nil {
					return u.err
				}
				if errors.Is(w.err, ErrDamaged) {
					return w.err
				}
			}
			return u.expire(2 * len(live))
		})
	}
	s.foundDamage(err)
	for _, w := range live {
		if err != nil {
			// Even an answer that stored nothing may rest on what a write
			// before it in the transaction did.
			w.err = err
		}
		close(w.done)
	}
}

// update runs fn in a write transaction, commits it, and shows the result to
// reads. If update fails, the file is as it was or the store has failed.
func (s *Store) update(fn func(*update) error) error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	if err := s.sameFile(); err != nil {
		return s.fail(err)
	}
	if e := s.damage.Load(); e != nil {
		return e
	}
	// To map more of the file, bbolt waits until all reads have ended. It would
	// wait forever while a snapshot is shown. So an attempt that needs a larger
	// mapping is refused, and repeated after the snapshot has been withdrawn.
	s.db.MaxSize = int(s.mapped - 1)
	err := s.attempt(fn)
	remap := errors.Is(err, berrors.ErrMaxSizeReached)
	if remap {
		s.show(withdrawn())
		s.db.MaxSize = 0 // no limit
		err = s.attempt(fn)
	}
	if err != nil && !remap || s.failure.Load() != nil {
		return err
	}
	p, e := s.newSnapshot()
	if e != nil {
		return s.fail(e)
	}
	s.size = p.tx.Size()
	s.mapped = max(s.mapped, mapSize(s.size))
	s.show(p)
	return err
}

// attempt runs fn in a write transaction and commits it.
func (s *Store) attempt(fn func(*update) error) error {
	var t attempt
	err := t.run(s, fn)
	if err != nil {
		return s.settle(&t, err)
	}
	s.lastCommit, s.lastState = t.id, t.state
	return nil
}

// attempt is a write transaction, as far as it has come.
type attempt struct {
	tx         *bbolt.Tx
	id         int   // the transaction's
	state      state // that it leaves
	committing bool  // Commit was called
}

func (t *attempt) run(s *Store, fn func(*update) error) (err error) {
	defer recoverDamage(&err)()
	if t.tx, err = s.begin(true); err != nil {
		return err
	}
	if t.id = t.tx.ID(); t.id != s.lastCommit+1 {
		return s.fail(errOtherCommit)
	}
	u := &update{Tx: t.tx, guard: newGuard(s, t.tx), now: s.now().UnixNano()}
	if err := u.guard.begin(t.tx); err != nil {
		return err
	}
	if u.state, err = loadState(t.tx); err != nil {
		return err
	}
	if u.state != s.lastState {
		return s.fail(errOtherCommit)
	}
	u.closed = 0
	if err := fn(u); err != nil {
		return err
	}
	if u.flush(); u.err != nil {
		return u.err
	}
	if err := u.state.store(t.tx); err != nil {
		return err
	}
	t.state = u.state
	t.committing = true
	return t.tx.Commit()
}
