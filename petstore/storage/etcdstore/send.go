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

// basis is what a transaction is built on: the state, and what was looked up
// together with it.
type basis struct {
	state *state
	known map[string]*mvccpb.KeyValue // nil: nothing was looked up
	mark  int64                       // the process's last transaction that was carried out
}

// group is how many operations a nested transaction takes. Nesting has one
// transaction read or remove more than the engine's 128 keys: it counts those
// of each level, but leaves a nested transaction only what the level above it
// has not used of the 128.
const group = 60

// nest packs operations that are too many for one level. Those of writes that
// share a transaction never are; one that has a transaction of its own can have
// 60 groups of them.
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

// unnest returns the answers to operations that nest has packed.
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
		return basis{}, damaged("the mark of a process is none")
	}
	b.mark = int64At(body)
	return b, nil
}

// lookUp reads a basis. Whatever the configuration, it is the newest.
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

// send sends a transaction until its outcome is known: again and again with
// the same compare, so that it can be carried out once only. It returns the
// basis of the next one, and whether this one was carried out.
func (s *Store) send(end time.Time, base basis, u *update, needs []string, lost int64) (basis, bool, error) {
	txn := s.transaction(base, u, needs, lost)
	unsure := false // it may have been carried out
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
			s.answering(nil)
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
			s.answering(err)
			return basis{}, false, unknown(err)
		}
	}
}

// transaction returns what fills in a transaction. If it loses against another
// process's, as it did lost times before, it says so where the winner looks.
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

// outcome reads the answer to a transaction.
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

// lossesIn returns how often the last process that lost had done so, if it was
// after rev.
func lossesIn(kv *mvccpb.KeyValue, rev int64) int64 {
	if kv == nil || kv.ModRevision <= rev {
		return 0
	}
	body, err := open(loserKey, kv.Value)
	if err != nil || len(body) != 8 {
		return 1 // it is a hint, and no more
	}
	return int64At(body)
}

// settle finds out whether a transaction was carried out of which some attempt
// went without an answer, before another was refused for want of space.
func (s *Store) settle(end time.Time, base basis, needs []string, refusal error) (basis, bool, error) {
	b, err := s.lookUp(end, needs)
	switch {
	case err != nil:
		return b, false, err
	case b.mark == s.committer.number:
		return b, true, nil
	case b.state.rev != base.state.rev:
		return b, false, s.explain(refusal) // the compare can hold no more
	}
	return b, false, unknown(refusal)
}

// maxYield bounds how long a process steps back for others.
const maxYield = 500 * time.Millisecond

// yield waits before the next transaction if another process has lost against
// the last one. The loser tries again at once; if the winner did so too, with
// the news that it is the first to have, it could win for ever. The more often
// the other has lost, the more time it is given: it may be slower.
func (s *Store) yield() {
	if n := s.committer.losses; n > 0 {
		d := min(s.committer.round*time.Duration(min(n, 100))/2, maxYield)
		sleep(s.context, time.Now().Add(time.Second), d/2+rand.N(d/2+1))
	}
}
