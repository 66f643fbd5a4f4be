package etcdstore

import (
	"context"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// What may wait, and what one transaction takes. The engine takes 128
// operations and 1.5 MiB. 512 pets need 33 blocks, 5 marks and 7 blocks of
// indexes at the most; the state, the process's own mark, the last
// loser and a record of outcomes are in every transaction; the rest is for long texts, messages and
// outcomes.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxPets         = 512
	maxOps          = 128 - (33 + 5 + 7 + 4)
	maxBatchBytes   = 1 << 20
)

// write is one caller's change, on its way to the cluster.
type write struct {
	apply func(*update) error
	pets  int      // pets at the most
	ops   int      // operations at the most, but for those that all share
	size  int      // bytes of the request at the most, about
	once  string   // the key of the outcome; "": not remembered
	needs []string // keys that apply looks at; if once is all, it is taken to be absent at first
	alone bool     // needs a transaction of its own, and its needs at once
	taken atomic.Bool
	err   error // of apply, or of the transaction; valid once done is closed
	done  chan struct{}
}

// update is a transaction that several writes share, as it is built.
type update struct {
	state
	now     int64 // nanoseconds since 1970
	prefix  string
	known   map[string]*mvccpb.KeyValue // what was looked up with the state; nil: nothing was
	absent  []string                    // keys that were not looked up and must not be there
	ops     []clientv3.Op
	deletes []clientv3.Op
	made    map[string]*outcome
	digests []byte // the keys of made
	changed bool   // there is something to store
}

func (u *update) put(key, value string) {
	u.changed = true
	u.ops = append(u.ops, clientv3.OpPut(u.prefix+key, value))
}

func (u *update) delete(key string) {
	u.changed = true
	u.deletes = append(u.deletes, clientv3.OpDelete(u.prefix+key))
}

var errNotSent = petstore.Errorf(petstore.CodeUnavailable, "the cluster does not answer now: nothing was stored")

var errUnknown = petstore.Errorf(petstore.CodeUnavailable, "the cluster has not told in time whether this was stored")

// unknown is errUnknown with its cause.
func unknown(cause error) error {
	return &petstore.Error{Code: errUnknown.Code, Message: errUnknown.Message, Err: cause}
}

// change has w carried out and returns once it is on stable storage.
//
// If ctx ends first the change is given up, unless it is on its way already:
// then its outcome is waited for, so that the caller learns it, as long as the
// request timeout allows.
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

// committer is what the one goroutine that writes knows.
type committer struct {
	process string // the key of this process's mark
	number  int64  // of the last transaction that was tried
	state   *state // as the last transaction left it; nil: not known
	stopped chan struct{}

	losses int64         // of another process, which lost against the last transaction
	round  time.Duration // that the last answer to one took
}

// commitAll writes until there is nothing more to come. It commits at once
// and takes along what has queued up meanwhile: a lone caller never waits for
// company, and many callers share a round of the cluster.
func (s *Store) commitAll() {
	defer close(s.committer.stopped)
	var next *write // did not fit
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
	err := s.transact(live)
	for _, w := range live {
		if err != nil {
			// Even an answer that stored nothing may rest on what a write
			// before it in the transaction did.
			w.err = err
		}
		close(w.done)
	}
}

// transact carries writes out in one transaction. The state that they start
// from is the one that this process left behind, as long as no other process
// has changed it: then the compare fails, and the answer brings the new one.
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
			base.state = nil // what the answers rest on may be out of date
			continue
		}
		// A number stands for a state to start from: should an attempt that went
		// without an answer be carried out after one that lost by the keys
		// alone, it is still this one.
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

// withoutRoom answers those writes that have nothing to store, once the cluster
// has refused all of them because it is full: a repetition of a creation whose
// outcome is known is as good as a read.
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

// build has every write applied to a copy of the state.
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
