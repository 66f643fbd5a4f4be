package etcdstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// basis is what a transaction is built on: the state, and what was read together
// with it.
type basis struct {
	state *state
	known map[string]*mvccpb.KeyValue // nil: nothing was read with the state
	mark  int64                       // the number of the process's last transaction that was carried out
}

// group is how many operations a nested transaction gets. etcd accepts at most
// 128 operations in a transaction, counted without those of nested ones. A
// nested transaction may have as many as the outer one has left of the 128. So
// 60 groups of 60 fit.
const group = 60

// nest packs operations into groups if they are too many for one transaction.
// That happens only to a write that has a transaction of its own.
func nest(ops []clientv3.Op) []clientv3.Op {
	if len(ops) <= maxOps {
		return ops
	}
	var packed []clientv3.Op
	for len(ops) > 0 {
		n := min(len(ops), group)
		packed = append(packed, clientv3.OpTxn(nil, ops[:n], nil))
		ops = ops[n:]
	}
	return packed
}

// unnest returns the responses to operations that nest has packed.
func unnest(responses []*etcdserverpb.ResponseOp) []*etcdserverpb.ResponseOp {
	var all []*etcdserverpb.ResponseOp
	for _, r := range responses {
		if t := r.GetResponseTxn(); t != nil {
			all = append(all, t.Responses...)
		} else {
			all = append(all, r)
		}
	}
	return all
}

// basisOps returns the operations that read a basis.
func (s *Store) basisOps(needs []string) []clientv3.Op {
	ops := make([]clientv3.Op, len(needs))
	for i, key := range needs {
		ops[i] = clientv3.OpGet(s.config.Prefix + key)
	}
	return append([]clientv3.Op{
		clientv3.OpGet(s.config.Prefix + stateKey),
		clientv3.OpGet(s.config.Prefix + s.committer.process),
	}, nest(ops)...)
}

// basisOf returns the basis that basisOps has read.
func (s *Store) basisOf(responses []*etcdserverpb.ResponseOp, needs []string) (basis, error) {
	st, err := s.stateOf(responses[0])
	if err != nil {
		return basis{}, err
	}
	b := basis{state: st, known: make(map[string]*mvccpb.KeyValue, len(needs))}
	for i, r := range unnest(responses[2:]) {
		if kv := oneOf(r); kv != nil {
			b.known[needs[i]] = kv
		}
	}
	kv := oneOf(responses[1])
	if kv == nil {
		return b, nil
	}
	body, err := open(s.committer.process, kv.Value)
	if err != nil || len(body) != 16 {
		return basis{}, damaged("the record %q is not the mark of a process", s.committer.process)
	}
	b.mark = int64At(body)
	return b, nil
}

// lookUp reads the current basis, linearizably even if the store is configured
// for serializable reads.
func (s *Store) lookUp(end time.Time, needs []string) (basis, error) {
	ctx, cancel := context.WithDeadline(s.context, end)
	defer cancel()
	var resp *clientv3.TxnResponse
	err := s.call(ctx, func(ctx context.Context, member *clientv3.Client) (*etcdserverpb.ResponseHeader, error) {
		var err error
		if resp, err = member.Txn(ctx).Then(s.basisOps(needs)...).Commit(); err != nil {
			return nil, err
		}
		return resp.Header, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = unavailable(err)
	}
	if err != nil {
		return basis{}, err
	}
	return s.basisOf(resp.Responses, needs)
}

// send sends a transaction until its outcome is known. The compare is the same
// each time, so it is carried out at most once. send returns the basis of the
// next transaction, and whether this one was carried out.
func (s *Store) send(end time.Time, base basis, u *update, needs []string, lost int64) (basis, bool, error) {
	txn := s.transaction(base, u, needs, lost)
	unsure := false // an attempt without a response may have been carried out
	for n := 0; ; n++ {
		before, start := s.revision.Load(), time.Now()
		var resp *clientv3.TxnResponse
		header, err := s.attempt(s.context, end, func(ctx context.Context, member *clientv3.Client) (*etcdserverpb.ResponseHeader, error) {
			r, err := txn(member.Txn(ctx)).Commit()
			if err != nil {
				return nil, err
			}
			resp = r
			return r.Header, nil
		})
		if err == nil {
			s.setResponding(nil)
			if err := s.sameCluster(header, before); err != nil {
				return basis{}, false, err
			}
			s.committer.round = time.Since(start)
			return s.outcome(resp, base, u, needs)
		}
		if errors.Is(err, rpctypes.ErrNoSpace) && unsure {
			return s.settle(end, base, needs, err)
		}
		if !transient(err) && !unsure {
			return basis{}, false, s.explain(err)
		}
		unsure = true
		if !s.pause(s.context, end, n) {
			s.setResponding(err)
			return basis{}, false, unknown(err)
		}
	}
}

// transaction returns a function that fills in a transaction. If the transaction
// loses against another process, as it has lost times before, it counts that in
// the record loserKey, which the next winner reads.
func (s *Store) transaction(base basis, u *update, needs []string, lost int64) func(clientv3.Txn) clientv3.Txn {
	compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(s.config.Prefix+stateKey), "=", base.state.rev)}
	for _, key := range u.absent {
		compares = append(compares, clientv3.Compare(clientv3.CreateRevision(s.config.Prefix+key), "=", 0))
	}
	process := s.committer.process
	mark := appendInt64(appendInt64(nil, s.committer.number), u.now)
	u.put(stateKey, seal(stateKey, u.encode()))
	u.put(process, seal(process, mark))
	then := append(append(u.ops, nest(u.deletes)...), clientv3.OpGet(s.config.Prefix+loserKey))
	otherwise := append(s.basisOps(needs), clientv3.OpPut(s.config.Prefix+loserKey, seal(loserKey, appendInt64(nil, lost+1))))
	return func(t clientv3.Txn) clientv3.Txn { return t.If(compares...).Then(then...).Else(otherwise...) }
}

// outcome returns what the response to a transaction says: the basis of the next
// one, and whether this one was carried out.
func (s *Store) outcome(resp *clientv3.TxnResponse, base basis, u *update, needs []string) (basis, bool, error) {
	all := resp.Responses
	if resp.Succeeded {
		s.committer.losses = lossesIn(oneOf(all[len(all)-1]), base.state.rev)
		u.state.rev = resp.Header.Revision
		st := u.state
		return basis{state: &st}, true, nil
	}
	b, err := s.basisOf(all[:len(all)-1], needs)
	return b, err == nil && b.mark == s.committer.number, err
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

// settle finds out whether a transaction was carried out, if one attempt got no
// response and a later one was refused because the cluster is full.
func (s *Store) settle(end time.Time, base basis, needs []string, refusal error) (basis, bool, error) {
	b, err := s.lookUp(end, needs)
	switch {
	case err != nil:
		return b, false, err
	case b.mark == s.committer.number:
		return b, true, nil
	case b.state.rev != base.state.rev:
		return b, false, s.explain(refusal) // the compare can no longer succeed
	}
	return b, false, unknown(refusal)
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
