package etcdstore

import (
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// committer belongs to the goroutine that commits.
type committer struct {
	name    string // of this process; "": none
	number  int64  // of the last transaction that was sent
	state   *state // as the last transaction left it; nil: not known
	stopped chan struct{}

	named     time.Time // when the process got its name
	namedWall int64     // the same by the clock that can be set, in nanoseconds since 1970

	losses int64         // how often the last transaction to lose against this process had lost in a row
	round  time.Duration // how long the last transaction took
}

// basis is what a transaction is built on: the state, and what was read together
// with it.
type basis struct {
	state *state
	known values // nil: nothing was read with the state
	mark  int64  // the number of the process's last transaction that was carried out
}

// update is a transaction under construction, with the changes of one or more
// callers.
type update struct {
	state
	now     int64 // nanoseconds since 1970
	prefix  string
	known   values   // what was read with the state; nil: nothing was
	absent  []string // keys that were not read; the transaction fails if one exists
	ops     []clientv3.Op
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
	u.ops = append(u.ops, clientv3.OpDelete(u.prefix+key))
}

var errContended = petstore.Errorf(petstore.CodeUnavailable, "too many processes are writing")

// commit carries out writes in one transaction. It builds the transaction on
// the state that the last one of this process left. If another process has
// changed the state since, the compare fails, and the response has the new state
// to build on.
func (s *Store) commit(batch []*write) error {
	if e := s.failure.Load(); e != nil {
		return e // what was queued before the failure is not for this cluster
	}
	end := time.Now().Add(s.config.RequestTimeout)
	var needs []string
	for _, w := range batch {
		needs = append(needs, w.needs...)
	}
	c := &s.committer
	if err := s.identify(end); err != nil {
		return s.refused(end, basis{}, batch, needs, false, err)
	}
	base, rev := basis{state: c.state}, int64(-1)
	c.state = nil
	for lost := int64(0); ; lost++ {
		var err error
		if base.state == nil || base.known == nil && batch[0].alone {
			if base, err = s.lookUp(end, needs); err != nil {
				return err
			}
		}
		u := s.build(base, batch)
		if !u.changed && base.known == nil {
			base.state = nil // it may be out of date, so read it
			continue
		}
		if !u.changed {
			c.state = base.state
			return nil
		}
		// The number is for all attempts on the same state. If an attempt
		// without a response is carried out late, after another that lost only
		// because a key exists, the mark still has this number.
		if base.state.rev != rev {
			rev = base.state.rev
			c.number++
		}
		start := time.Now()
		resp, unsure, err := s.call(s.context, end, s.transaction(base, u, needs, lost))
		if err != nil {
			return s.refused(end, base, batch, needs, unsure, err)
		}
		if resp.Succeeded {
			c.round = time.Since(start)
			c.losses = lossesIn(s.collect(values{}, resp.Responses)[loserKey], rev)
			u.state.rev = resp.Header.Revision
			st := u.state
			c.state = &st
			s.saw(c.state)
			return nil
		}
		if base, err = s.basisOf(resp.Responses); err != nil {
			return err
		}
		if base.mark == c.number { // an attempt without a response was carried out
			c.state = base.state
			return nil
		}
		if base.known[leaseKey+c.name] == nil {
			// The lease of the name has ended, because the machine slept
			// or by hand. The mark may have been deleted.
			c.name = ""
			return unknown(nil)
		}
		if time.Now().After(end) {
			return errContended
		}
	}
}

// build applies every write to a copy of the state.
func (s *Store) build(base basis, batch []*write) *update {
	u := &update{
		state:  base.state.clone(),
		now:    s.config.Now().UnixNano(),
		prefix: s.config.Prefix,
		known:  base.known,
		made:   map[string]*outcome{},
	}
	for _, w := range batch {
		w.err = w.apply(u)
	}
	return u
}

// transaction returns the transaction that makes an update. If it loses against
// another process, as it has lost times before, it counts that in the record
// loserKey, which the next winner reads. It does not, if there is no store: the
// cluster may be another one. The name must still have its lease: otherwise an
// outcome might be deleted at once.
func (s *Store) transaction(base basis, u *update, needs []string, lost int64) txn {
	p, name := s.config.Prefix, s.committer.name
	process := writerKey + name
	if len(u.digests) > 0 {
		key := numbered(onceLogKey+name, s.committer.number)
		u.put(key, seal(key, u.digests))
	}
	t := txn{compares: []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(p+stateKey), "=", base.state.rev),
		clientv3.Compare(clientv3.CreateRevision(p+leaseKey+name), ">", 0),
	}}
	for _, key := range u.absent {
		t.compares = append(t.compares, clientv3.Compare(clientv3.CreateRevision(p+key), "=", 0))
	}
	t.then = append(nest(u.ops),
		clientv3.OpPut(p+stateKey, seal(stateKey, u.encode())),
		clientv3.OpPut(p+process, seal(process, appendInt64(nil, s.committer.number))),
		clientv3.OpGet(p+loserKey))
	t.otherwise = append(s.basisOps(needs), clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(p+stateKey), ">", 0)},
		[]clientv3.Op{clientv3.OpPut(p+loserKey, seal(loserKey, appendInt64(nil, lost+1)))}, nil))
	return t
}

// group is how many operations a nested transaction gets. etcd accepts at most
// 128 operations in a transaction, counted without those of nested ones. A
// nested transaction may have as many as the outer one has left of the 128. So
// 60 groups of 60 fit.
const group = 60

// nest packs operations into groups if they are too many for one transaction.
// That happens only to a write that has a transaction of its own.
func nest(ops []clientv3.Op) []clientv3.Op {
	if len(ops) <= 128-3 {
		return ops
	}
	var packed []clientv3.Op
	for part := range slices.Chunk(ops, group) {
		packed = append(packed, clientv3.OpTxn(nil, part, nil))
	}
	return packed
}

// basisOps returns the operations that read a basis.
func (s *Store) basisOps(needs []string) []clientv3.Op {
	name := s.committer.name
	return append(s.getOps([]string{stateKey, writerKey + name, leaseKey + name}), nest(s.getOps(needs))...)
}

// basisOf returns the basis that basisOps has read.
func (s *Store) basisOf(responses []*etcdserverpb.ResponseOp) (basis, error) {
	v := s.collect(values{}, responses)
	st, err := s.stateOf(v)
	process := writerKey + s.committer.name
	if err != nil || v[process] == nil {
		return basis{state: st, known: v}, err
	}
	body, err := v.open(process)
	if err != nil || len(body) != 8 {
		return basis{}, damaged("the record %q is not the mark of a process", process)
	}
	return basis{state: st, known: v, mark: int64At(body)}, nil
}

// lookUp reads the current basis, linearizably even if the store is configured
// for serializable reads.
func (s *Store) lookUp(end time.Time, needs []string) (basis, error) {
	resp, _, err := s.call(s.context, end, txn{then: s.basisOps(needs)})
	if err != nil {
		return basis{}, err
	}
	return s.basisOf(resp.Responses)
}

// refused decides what a transaction that ended with err did, and sets the results
// of its writes. base has no state if none was sent. Only a full cluster still
// says what it holds. Then a write that has nothing to store succeeds: the
// repetition of a creation whose outcome is known only reads. The transaction
// itself may have been carried out: a member that has no room left when it comes
// to a transaction carries it out and reports that there is no room.
func (s *Store) refused(end time.Time, base basis, batch []*write, needs []string, unsure bool, err error) error {
	outcome, sent := err, base.state != nil
	full := petstore.CodeOf(err) == petstore.CodeFull
	if unsure || full && sent {
		outcome = unknown(err)
	}
	if !full || !sent && len(needs) == 0 {
		return outcome
	}
	now, lookUpErr := s.lookUp(end, needs)
	if lookUpErr != nil {
		return outcome
	}
	if sent && now.mark == s.committer.number { // it was carried out
		s.committer.state = now.state
		return nil
	}
	if unsure && now.state.rev == base.state.rev { // one may still be
		return outcome
	}
	for _, w := range batch {
		if u := s.build(now, []*write{w}); u.changed {
			w.err = err
		}
	}
	return nil
}

// lossesIn returns the count in kv, the record loserKey, if it was written after
// rev, otherwise 0.
func lossesIn(kv *mvccpb.KeyValue, rev int64) int64 {
	if kv == nil || kv.ModRevision <= rev {
		return 0
	}
	body, err := open(loserKey, kv.Value)
	if err != nil || len(body) != 8 {
		return 1 // the count is only a hint, so damage does not matter
	}
	return int64At(body)
}

// maxYield limits how long a process waits for others.
const maxYield = 500 * time.Millisecond

// yield waits before the next transaction if another process has lost against
// the last one. The winner is the first to know the new state. If it tried again
// at once, as the loser does, it could win forever. The more often the loser has
// lost, the longer the winner waits: the loser may be slower.
func (s *Store) yield() {
	if n := s.committer.losses; n > 0 {
		d := min(s.committer.round*time.Duration(min(n, 100))/2, maxYield)
		sleep(s.context, time.Now().Add(time.Second), d/2+rand.N(d/2+1))
	}
}
