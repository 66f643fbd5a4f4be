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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/petstore"
)

// maxReads limits the reads under way. While the cluster does not respond, each
// waits until its timeout. Reads beyond the limit fail at once.
const maxReads = 1024

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many calls are waiting for the cluster")

// txn is a transaction: then if all compares hold, otherwise the rest.
type txn struct {
	compares        []clientv3.Cmp
	then, otherwise []clientv3.Op
	stale           bool  // it only reads, and needs no leader
	ttl             int64 // if not 0, the first of then puts with a new lease of so many seconds
}

// values are what a transaction has read, by key without the prefix.
type values map[string]*mvccpb.KeyValue

// open returns the body of the record with that key, which must exist.
func (v values) open(key string) ([]byte, error) {
	if v[key] == nil {
		return nil, damaged("the record %q is missing", key)
	}
	return open(key, v[key].Value)
}

// collect adds to v what the operations of a transaction have read.
func (s *Store) collect(v values, responses []*etcdserverpb.ResponseOp) values {
	for _, r := range responses {
		for _, kv := range r.GetResponseRange().GetKvs() {
			v[string(kv.Key[len(s.config.Prefix):])] = kv
		}
		s.collect(v, r.GetResponseTxn().GetResponses())
	}
	return v
}

// getOps returns the operations that read keys.
func (s *Store) getOps(keys []string, options ...clientv3.OpOption) []clientv3.Op {
	ops := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		ops[i] = clientv3.OpGet(s.config.Prefix+key, options...)
	}
	return ops
}

// rangeOp returns the operation that reads the keys k with from <= k < to.
func (s *Store) rangeOp(from, to string, options ...clientv3.OpOption) clientv3.Op {
	options = append(options, clientv3.WithRange(s.config.Prefix+to))
	return clientv3.OpGet(s.config.Prefix+from, append(options, s.readOptions...)...)
}

// read reads keys and ranges, all in one state of the cluster.
func (s *Store) read(ctx context.Context, keys []string, ranges ...clientv3.Op) (values, error) {
	resp, err := s.do(ctx, txn{then: append(s.getOps(keys, s.readOptions...), ranges...), stale: s.config.Serializable})
	if err != nil {
		return nil, err
	}
	return s.collect(values{}, resp.Responses), nil
}

// fetch reads records that must exist and never change. In a serializable read,
// a member that lags may not have them yet. Then fetch reads again, linearizably.
func (s *Store) fetch(ctx context.Context, keys []string) (values, error) {
	v, err := s.read(ctx, keys)
	if err == nil && len(v) < len(keys) && s.config.Serializable {
		var resp *clientv3.TxnResponse
		if resp, err = s.do(ctx, txn{then: s.getOps(keys)}); err == nil {
			v = s.collect(values{}, resp.Responses)
		}
	}
	return v, err
}

// do carries out a transaction that can be repeated, such as a read.
func (s *Store) do(ctx context.Context, t txn) (*clientv3.TxnResponse, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if s.reading.Add(1) > maxReads {
		s.reading.Add(-1)
		return nil, errBusy
	}
	defer s.reading.Add(-1)
	resp, _, err := s.call(ctx, time.Now().Add(s.config.RequestTimeout), t)
	if u := s.usable(ctx); err != nil && u != nil && u != errLate { // err says more than errLate
		err = u
	}
	return resp, err
}

// call sends a transaction until a member responds. unsure says that an earlier
// attempt got no response, and may have been carried out or may still be.
func (s *Store) call(ctx context.Context, end time.Time, t txn) (resp *clientv3.TxnResponse, unsure bool, err error) {
	for n := 0; ; n++ {
		before := s.revision.Load()
		m, resp, err := s.attempt(ctx, end, t)
		if err == nil {
			return resp, unsure, s.sameCluster(m.endpoint, resp.Header, before)
		}
		if !transient(err) {
			return nil, unsure, explain(err)
		}
		unsure = true
		if d := 10 * time.Millisecond << min(n, 4); !sleep(ctx, end, d/2+rand.N(d)) {
			return nil, unsure, unavailable(err)
		}
	}
}

// attempt sends a transaction once, to the member that responded last. If it does
// not respond now, the next request goes to the next member. A single client of
// etcd for all members would ask them in turn: if one of three hung, every third
// request would wait for its timeout.
func (s *Store) attempt(ctx context.Context, end time.Time, t txn) (*member, *clientv3.TxnResponse, error) {
	first := s.current.Load()
	at := first
	for !s.members[int(at)%len(s.members)].ours.Load() { // one is ours since the store was opened
		at++
	}
	m := s.members[int(at)%len(s.members)]
	try, cancel := context.WithTimeout(ctx, s.config.attemptTimeout(time.Until(end)))
	defer cancel()
	resp, err := m.send(try, t)
	if err != nil && transient(err) && ctx.Err() == nil {
		s.current.CompareAndSwap(first, at+1) // once, though many requests may fail
	}
	return m, resp, err
}

// sleep waits for d. It reports false if that would take until after end, or if
// ctx ends.
func sleep(ctx context.Context, end time.Time, d time.Duration) bool {
	if time.Until(end) < d {
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
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, rpctypes.ErrTooManyRequests) ||
		errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision) {
		return true
	}
	code := status.Code(err)
	var e rpctypes.EtcdError
	if errors.As(err, &e) {
		code = e.Code()
	}
	return code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Canceled
}

func unavailable(err error) error {
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the cluster is not responding", Err: err}
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
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the cluster refuses this now", Err: err}
}
