package etcdstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/petstore"
)

// maxReads limits the reads under way. While the cluster does not respond, each
// waits until its timeout. Reads beyond the limit fail at once.
const maxReads = 1024

// txn is a transaction: then if all compares hold, otherwise the rest.
type txn struct {
	compares        []clientv3.Cmp
	then, otherwise []clientv3.Op
	ttl             int64 // if not 0, the first of then puts with a new lease of so many seconds
}

func exists(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), ">", 0) }
func absent(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), "=", 0) }

// put returns the operation that writes a record.
func put(key string, body []byte) clientv3.Op { return clientv3.OpPut(key, seal(key, body)) }

// gets returns the operations that read keys.
func gets(keys ...string) []clientv3.Op {
	ops := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		ops[i] = clientv3.OpGet(key)
	}
	return ops
}

// etcd accepts at most 128 operations in a transaction, counted without those of
// nested ones: of the compares and the two branches, those of the longest. A
// nested transaction may have as many as are left of the 128. If a transaction only
// reads and has no nested one, etcd does not propose it to all members.
const (
	maxFlat = 128 - 5 // operations that fit beside four others and one in a nested transaction
	group   = 40      // operations of a nested transaction
)

// nest packs operations into groups if there are more than most: maxFlat in a
// transaction with one branch; maxOps in one with two, so that a group of the
// other branch fits too.
func nest(ops []clientv3.Op, most int) []clientv3.Op {
	if len(ops) <= most {
		return ops
	}
	var packed []clientv3.Op
	for part := range slices.Chunk(ops, group) {
		packed = append(packed, clientv3.OpTxn(nil, part, nil))
	}
	return packed
}

// values are what a transaction has read, by key.
type values map[string]*mvccpb.KeyValue

// open returns the body of the record with that key, which must exist.
func (v values) open(key string) ([]byte, error) {
	if v[key] == nil {
		return nil, damaged("the record %q is missing", key)
	}
	return open(key, v[key].Value)
}

// add adds what the operations of a transaction have read, and returns v.
func (v values) add(responses []*etcdserverpb.ResponseOp) values {
	for _, r := range responses {
		for _, kv := range r.GetResponseRange().GetKvs() {
			v[string(kv.Key)] = kv
		}
		v.add(r.GetResponseTxn().GetResponses())
	}
	return v
}

// read carries out operations that read, all in one state of the cluster.
func (s *Store) read(ctx context.Context, ops ...clientv3.Op) (values, error) {
	resp, err := s.do(ctx, txn{then: nest(ops, maxFlat)})
	if err != nil {
		return nil, err
	}
	return values{}.add(resp.Responses), nil
}

// do carries out a transaction that can be repeated, such as a read. ctx must have
// a deadline, so that a call of several requests ends at one.
func (s *Store) do(ctx context.Context, t txn) (*clientv3.TxnResponse, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if s.reading.Add(1) > maxReads {
		s.reading.Add(-1)
		return nil, errBusy
	}
	defer s.reading.Add(-1)
	resp, _, err := s.call(ctx, t)
	if u := s.usable(ctx); err != nil && u != nil && u != errLate { // err says more than errLate
		err = u
	}
	return resp, err
}

// call sends a transaction until a member responds, or until the deadline of
// ctx. unsure says that an earlier attempt got no response, and may have been
// carried out or may still be.
func (s *Store) call(ctx context.Context, t txn) (resp *clientv3.TxnResponse, unsure bool, err error) {
	for n := 0; ; n++ {
		before := s.revision.Load()
		m, resp, err := s.attempt(ctx, t)
		if err == nil {
			return resp, unsure, s.sameCluster(m.URL, resp.Header, before)
		}
		if !transient(err) {
			return nil, unsure, explain(err)
		}
		unsure = true
		if s.context.Err() != nil { // the connections are closed
			return nil, unsure, errClosed
		}
		if d := 10 * time.Millisecond << min(n, 4); !sleep(ctx, d/2+rand.N(d)) {
			return nil, unsure, unavailable("the cluster is not responding", err)
		}
	}
}

// attempt sends a transaction once, to the member that responded last. If it does
// not respond now, the next request goes to the next member. A single client of
// etcd for all members would ask them in turn: if one of three hung, every third
// request would wait for its timeout.
func (s *Store) attempt(ctx context.Context, t txn) (*member, *clientv3.TxnResponse, error) {
	first := s.current.Load()
	at := first
	for !s.members[int(at)%len(s.members)].ours.Load() { // one is ours since the store was opened
		at++
	}
	m := s.members[int(at)%len(s.members)]
	end, _ := ctx.Deadline()
	try, cancel := context.WithTimeout(ctx, s.config.attemptTimeout(time.Until(end)))
	defer cancel()
	resp, err := m.send(clientv3.WithRequireLeader(try), t)
	if err != nil && transient(err) && !errors.Is(ctx.Err(), context.Canceled) {
		s.current.CompareAndSwap(first, at+1) // once, though many requests may fail
	}
	return m, resp, err
}

// sleep waits for d. It reports false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// transient reports whether a request that failed with err may succeed if it is
// repeated: when the cluster has no leader, or a member is stopping or does not
// respond.
func transient(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, rpctypes.ErrTooManyRequests) || invalidToken(err) {
		return true
	}
	code := status.Code(err)
	var e rpctypes.EtcdError
	if errors.As(err, &e) {
		code = e.Code()
	}
	if code == codes.Unknown && strings.Contains(err.Error(), "raft proposal dropped") {
		return true // the leader is handing over to another member
	}
	return code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Canceled
}

func unavailable(message string, cause error) error {
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: message, Err: cause}
}

var (
	errBusy      = unavailable("too many calls are waiting for the cluster", nil)
	errClosed    = unavailable("the store is closed", nil)
	errLate      = unavailable("the cluster is not responding in time", nil)
	errNotSent   = unavailable("the cluster is not responding: nothing was stored", nil)
	errContended = unavailable("too many processes are writing", nil)
)

// unknown is the error of a change that may have been made.
func unknown(cause error) error {
	return unavailable("the cluster did not respond in time: this may have been stored", cause)
}

// explain turns a refusal by etcd into an error of the store.
func explain(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return &petstore.Error{Code: petstore.CodeFull, Message: "there is no room to store this", Err: err}
	case errors.Is(err, rpctypes.ErrRequestTooLarge), errors.Is(err, rpctypes.ErrTooManyOps):
		// The members were started with limits below etcd's defaults.
		return &petstore.Error{Code: petstore.CodeFull, Message: "the cluster does not accept requests of this size", Err: err}
	}
	return unavailable("the cluster refuses this now", err)
}
