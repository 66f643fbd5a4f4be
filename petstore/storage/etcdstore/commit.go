package etcdstore

import (
	"context"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// The limits of what may wait and of what one transaction takes. etcd accepts
// 128 operations and 1.5 MiB. 512 pets need at most 33 blocks, 5 marks and 7
// blocks of indexes. Every transaction also has operations for the state, the
// mark of the process, the last loser and a record of outcomes. The rest is for
// long texts, messages and outcomes.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxPets         = 512
	maxOps          = 128 - (33 + 5 + 7 + 4)
	maxBatchBytes   = 1 << 20
)

// write is the change of one caller.
type write struct {
	apply func(*update) error
	pets  int         // how many pets it adds, at most
	ops   int         // how many operations it needs, at most, besides those for pets and those of every transaction
	size  int         // how many bytes of the request it takes, at most, roughly
	once  string      // the key of the outcome; "": the outcome is not kept
	needs []string    // keys that apply looks at; unless alone, the first attempt assumes that they do not exist
	alone bool        // needs a transaction of its own, built on what its needs hold
	taken atomic.Bool // by the committer, or by the caller that cancels it
	err   error       // of apply, or of the transaction; valid once done is closed
	done  chan struct{}
}

// update is a transaction under construction, with the changes of one or more
// callers.
type update struct {
	state
	now     int64 // nanoseconds since 1970
	prefix  string
	known   map[string]*mvccpb.KeyValue // what was read with the state; nil: nothing was
	absent  []string                    // keys that were not read; the transaction fails if one exists
	ops     []clientv3.Op
	deletes []clientv3.Op
	made    map[string]*outcome // of this transaction, by key
	digests []byte              // the keys of made, without the letter
	changed bool                // there is something to store
}

func (u *update) put(key, value string) {
	u.changed = true
	u.ops = append(u.ops, clientv3.OpPut(u.prefix+key, value))
}

func (u *update) delete(key string) {
	u.changed = true
	u.deletes = append(u.deletes, clientv3.OpDelete(u.prefix+key))
}

var errNotSent = petstore.Errorf(petstore.CodeUnavailable, "the cluster is not responding: nothing was stored")

var errUnknown = petstore.Errorf(petstore.CodeUnavailable, "the cluster did not respond in time: this may have been stored")

// unknown is errUnknown with its cause.
func unknown(cause error) error {
	return &petstore.Error{Code: errUnknown.Code, Message: errUnknown.Message, Err: cause}
}

// change queues w and returns once it is on stable storage.
//
// If ctx ends before w is in a transaction, the change is not made. After that,
// change waits for the outcome until the request timeout.
func (s *Store) change(ctx context.Context, w *write) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	timeout := time.NewTimer(s.config.RequestTimeout)
	defer timeout.Stop()
	w.done = make(chan struct{})
	if err := s.enqueue(w); err != nil {
		return err
	}
	ended := ctx.Done()
	for {
		select {
		case <-w.done:
			return w.err
		case <-ended:
			if w.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			ended = nil
		case <-timeout.C:
			if w.taken.CompareAndSwap(false, true) {
				return errNotSent
			}
			select {
			case <-w.done: // just now
				return w.err
			default:
				return errUnknown
			}
		}
	}
}

func (s *Store) enqueue(w *write) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if s.pending.Add(int64(w.size)) > maxWaitingBytes {
		s.pending.Add(-int64(w.size))
		return errBusy
	}
	select {
	case s.writes <- w:
		return nil
	default:
		s.pending.Add(-int64(w.size))
		return errBusy
	}
}

// committer belongs to the goroutine that commits.
type committer struct {
	process string // the key of this process's mark
	number  int64  // of the last transaction that was sent
	state   *state // as the last transaction left it; nil: not known
	stopped chan struct{}

	losses int64         // how often the last transaction to lose against this process had lost in a row
	round  time.Duration // how long the last transaction took
}

// commitAll commits until the store is closed and nothing is waiting. Each
// transaction takes what has queued up during the one before. So a lone caller
// never waits for others, and many callers share a transaction.
func (s *Store) commitAll() {
	defer close(s.committer.stopped)
	var next *write // did not fit into the last transaction
	for {
		first := next
		if next = nil; first == nil {
			var ok bool
			if first, ok = <-s.writes; !ok {
				return
			}
		}
		batch := []*write{first}
		pets, ops, size := first.pets, first.ops, first.size
	more:
		for !first.alone {
			select {
			case w, ok := <-s.writes:
				if !ok {
					break more
				}
				if w.alone || pets+w.pets > maxPets || ops+w.ops > maxOps || size+w.size > maxBatchBytes {
					next = w
					break more
				}
				batch = append(batch, w)
				pets, ops, size = pets+w.pets, ops+w.ops, size+w.size
			default:
				break more
			}
		}
		s.pending.Add(-int64(size))
		s.commit(batch)
		s.yield()
	}
}

// commit commits batch in one transaction and wakes its callers.
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
	err := s.transact(live)
	for _, w := range live {
		if err != nil {
			w.err = err // even if it changed nothing: it may depend on a write before it
		}
		close(w.done)
	}
}

// transact carries out writes in one transaction. It builds the transaction on
// the state that the last one of this process left. If another process has
// changed the state since, the compare fails, and the response has the new state
// to build on.
func (s *Store) transact(live []*write) error {
	end := time.Now().Add(s.config.RequestTimeout)
	var needs []string
	for _, w := range live {
		needs = append(needs, w.needs...)
	}
	base := basis{state: s.committer.state}
	s.committer.state = nil
	rev := int64(-1)
	for lost := int64(0); ; lost++ {
		var err error
		if base.state == nil || base.known == nil && live[0].alone {
			if base, err = s.lookUp(end, needs); err != nil {
				return err
			}
		}
		u := s.build(base, live)
		if !u.changed {
			if base.known != nil {
				s.committer.state = base.state
				return nil
			}
			base.state = nil // it may be out of date, so read it
			continue
		}
		// The number is for all attempts on the same state. If an attempt
		// without a response is carried out late, after another that lost only
		// because a key exists, the mark still has this number.
		if base.state.rev != rev {
			rev = base.state.rev
			s.committer.number++
		}
		var committed bool
		if base, committed, err = s.send(end, base, u, needs, lost); err != nil {
			return s.withoutRoom(end, needs, live, err)
		}
		if committed {
			s.committer.state = base.state
			s.saw(base.state)
			return nil
		}
		if time.Now().After(end) {
			return errContended
		}
	}
}

// withoutRoom sets the results of writes that the cluster has refused because it
// is full. A write that has nothing to store succeeds: the repetition of a
// creation whose outcome is known only reads.
func (s *Store) withoutRoom(end time.Time, needs []string, live []*write, refusal error) error {
	if petstore.CodeOf(refusal) != petstore.CodeFull || len(needs) == 0 {
		return refusal
	}
	base, err := s.lookUp(end, needs)
	if err != nil {
		return refusal
	}
	for _, w := range live {
		if u := s.build(base, []*write{w}); u.changed {
			w.err = refusal
		}
	}
	return nil
}

var errContended = petstore.Errorf(petstore.CodeUnavailable, "too many processes are writing")

// build applies every write to a copy of the state.
func (s *Store) build(base basis, live []*write) *update {
	u := &update{
		state:  base.state.clone(),
		now:    s.config.Now().UnixNano(),
		prefix: s.config.Prefix,
		known:  base.known,
		made:   map[string]*outcome{},
	}
	for _, w := range live {
		w.err = w.apply(u)
	}
	if len(u.digests) > 0 {
		u.lastOnce++
		key := numbered(onceLogKey, u.lastOnce)
		u.put(key, seal(key, append(appendInt64(nil, u.now), u.digests...)))
	}
	return u
}
