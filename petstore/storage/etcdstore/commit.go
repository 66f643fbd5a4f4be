package etcdstore

import (
	"context"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// committer belongs to the goroutine that commits.
type committer struct {
	name    string // of this process; "": none
	number  int64  // of the last transaction that was sent
	state   *state // as the last transaction left it; nil: not known
	stopped chan struct{}

	// pause is how long to wait before the next transaction if another process
	// has lost against the last one. The winner is the first to know the new
	// state. If it tried again at once, as the loser does, it could win forever.
	// The pause is random, on average as long as the last transaction took: the
	// loser may be slower.
	pause time.Duration

	named     time.Time // when the process got its name
	namedWall int64     // the same by the clock that can be set, in nanoseconds since 1970
}

// basis is what a transaction is built on: the state, and what was read together
// with it.
type basis struct {
	state *state
	known values // nil: nothing was read with the state
	mark  int64  // the number of the process's last transaction that was carried out; -1: none is known
}

// update is a transaction under construction, with the changes of one or more
// callers.
type update struct {
	state
	now     int64    // nanoseconds since 1970
	known   values   // what was read with the state; nil: nothing was
	absent  []string // keys that were not read; the transaction fails if one exists
	ops     []clientv3.Op
	made    map[string]*outcome // of this transaction, by key
	digests []byte              // the keys of made, without the letter
	changed bool                // there is something to store
}

func (u *update) put(key string, body []byte) {
	u.changed = true
	u.ops = append(u.ops, put(key, body))
}

func (u *update) delete(key string) {
	u.changed = true
	u.ops = append(u.ops, clientv3.OpDelete(key))
}

// commit carries out writes in one transaction. It builds the transaction on
// the state that the last one of this process left. If another process has
// changed the state since, the compare fails, and the response has the new state
// to build on.
func (s *Store) commit(batch []*write) error {
	if err := context.Cause(s.failed); err != nil {
		return err // what was queued before the failure is not for this cluster
	}
	ctx, cancel := s.limit(s.context)
	defer cancel()
	c := &s.committer
	base, rev, unsure := basis{state: c.state}, int64(-1), false
	c.state, c.pause = nil, 0
	err := s.identify(ctx)
	if err != nil {
		return s.refused(ctx, batch, false, err)
	}
	for {
		if base.state == nil || base.known == nil && batch[0].alone {
			if base, err = s.lookUp(ctx, batch); err != nil {
				return err
			}
		}
		u := s.build(base, batch)
		if !u.changed && base.known == nil {
			base.state = nil // it may be out of date, so read it
			continue
		}
		// The attempt before may have lost on this state too, because a key
		// exists. If it was also sent once without a response, that request
		// can still be carried out, when the key has expired, until another
		// transaction has replaced the state.
		again := unsure && base.state.rev == rev
		if !u.changed && !again {
			c.state = base.state
			return nil
		}
		rev = base.state.rev
		c.number++
		start := time.Now()
		resp, late, err := s.call(ctx, s.transaction(base, u, batch))
		unsure = late || again
		if err != nil {
			return s.refused(ctx, batch, unsure, err)
		}
		if resp.Succeeded {
			u.state.rev = resp.Header.Revision
			st := u.state
			c.state = &st
			s.saw(c.state)
			if kv := (values{}).add(resp.Responses)[loserKey]; kv != nil && kv.ModRevision > rev {
				c.pause = min(time.Duration(rand.ExpFloat64()*float64(time.Since(start))), 500*time.Millisecond)
			}
			return nil
		}
		if base, err = s.basisOf(resp.Responses); err != nil {
			return err
		}
		if base.mark == c.number { // an attempt without a response was carried out
			c.state = base.state
			return nil
		}
		if again && base.mark == c.number-1 { // it was, and its results were replaced
			return unknown(nil)
		}
		if base.known[leaseKey+c.name] == nil {
			// The lease of the name has ended, because the machine slept
			// or by hand. The mark may have been deleted.
			c.name = ""
			return unknown(nil)
		}
		if ctx.Err() != nil {
			return errContended
		}
	}
}

// build applies every write to a copy of the state.
func (s *Store) build(base basis, batch []*write) *update {
	u := &update{
		state: base.state.clone(),
		now:   s.config.Now().UnixNano(),
		known: base.known,
		made:  map[string]*outcome{},
	}
	for _, w := range batch {
		w.err = w.apply(u)
	}
	return u
}

// transaction returns the transaction that makes an update. If it loses against
// another process, it says so in the record loserKey, which the next winner reads.
// It does not if there is no store: the cluster may be another one. The name must
// still have its lease: otherwise an outcome might be deleted at once.
func (s *Store) transaction(base basis, u *update, batch []*write) txn {
	c := &s.committer
	if len(u.digests) > 0 {
		u.put(numbered(onceLogKey+c.name, c.number), u.digests)
	}
	t := txn{compares: []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(stateKey), "=", base.state.rev),
		exists(leaseKey + c.name),
	}}
	for _, key := range u.absent {
		t.compares = append(t.compares, absent(key))
	}
	t.then = append(nest(u.ops, maxOps), put(stateKey, u.encode()), put(writerKey+c.name, appendInt64(nil, c.number)), clientv3.OpGet(loserKey))
	lost := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(stateKey), ">", base.state.rev)}
	t.otherwise = append(s.basisOps(batch), clientv3.OpTxn(lost, []clientv3.Op{put(loserKey, nil)}, nil))
	return t
}

// basisOps returns the operations that read a basis for writes.
func (s *Store) basisOps(batch []*write) []clientv3.Op {
	var needs []string
	for _, w := range batch {
		needs = append(needs, w.needs...)
	}
	name := s.committer.name
	return append(gets(stateKey, writerKey+name, leaseKey+name), nest(gets(needs...), maxOps)...)
}

// basisOf returns the basis that basisOps has read.
func (s *Store) basisOf(responses []*etcdserverpb.ResponseOp) (basis, error) {
	v := values{}.add(responses)
	st, err := s.stateOf(v)
	process := writerKey + s.committer.name
	if err != nil || v[process] == nil {
		return basis{state: st, known: v, mark: -1}, err
	}
	body, err := v.open(process)
	if err != nil || len(body) != 8 {
		return basis{}, damaged("the record %q is not the mark of a process", process)
	}
	return basis{state: st, known: v, mark: int64At(body)}, nil
}

// lookUp reads the current basis for writes.
func (s *Store) lookUp(ctx context.Context, batch []*write) (basis, error) {
	resp, _, err := s.call(ctx, txn{then: s.basisOps(batch)})
	if err != nil {
		return basis{}, err
	}
	return s.basisOf(resp.Responses)
}

// refused decides what a transaction that ended with err did, and sets the results
// of its writes. Only a full cluster still says what it holds. Then a write that
// has nothing to store succeeds: the repetition of a creation whose outcome is
// known only reads. The transaction itself may have been carried out: a member
// that has no room left when it comes to a transaction carries it out and
// reports that there is no room.
func (s *Store) refused(ctx context.Context, batch []*write, unsure bool, err error) error {
	outcome := err
	if unsure {
		outcome = unknown(err)
	}
	if petstore.CodeOf(err) != petstore.CodeFull {
		return outcome
	}
	now, lookUpErr := s.lookUp(ctx, batch)
	if lookUpErr != nil {
		return unknown(err)
	}
	if now.mark == s.committer.number {
		s.committer.state = now.state
		return nil
	}
	for _, w := range batch {
		if u := s.build(now, []*write{w}); u.changed {
			w.err = outcome
		}
	}
	return nil
}
