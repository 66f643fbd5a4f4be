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

// errConnecting makes a call try the next member. No caller sees it.
var errConnecting = status.Error(codes.Unavailable, "the member is being connected to")

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many calls are waiting for the cluster")

// getOp returns the operation that reads one key.
func (s *Store) getOp(key string) clientv3.Op {
	return clientv3.OpGet(s.config.Prefix+key, s.readOptions...)
}

// rangeOp returns the operation that reads the keys k with from <= k < to.
func (s *Store) rangeOp(from, to string, options ...clientv3.OpOption) clientv3.Op {
	options = append(options, clientv3.WithRange(s.config.Prefix+to))
	return clientv3.OpGet(s.config.Prefix+from, append(options, s.readOptions...)...)
}

// get reads one key. It returns nil if the key does not exist.
func (s *Store) get(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	var kv *mvccpb.KeyValue
	err := s.call(ctx, func(ctx context.Context, member *clientv3.Client) (*etcdserverpb.ResponseHeader, error) {
		resp, err := member.Get(ctx, s.config.Prefix+key, s.readOptions...)
		if err != nil {
			return nil, err
		}
		if len(resp.Kvs) > 0 {
			kv = resp.Kvs[0]
		}
		return resp.Header, nil
	})
	return kv, err
}

// read carries out operations that only read, all on one state of the cluster.
func (s *Store) read(ctx context.Context, ops []clientv3.Op) (*clientv3.TxnResponse, error) {
	var resp *clientv3.TxnResponse
	err := s.call(ctx, func(ctx context.Context, member *clientv3.Client) (*etcdserverpb.ResponseHeader, error) {
		var err error
		if resp, err = member.Txn(ctx).Then(ops...).Commit(); err != nil {
			return nil, err
		}
		return resp.Header, nil
	})
	return resp, err
}

// fetch reads records that must exist and never change, in the order of keys. In
// a serializable read, a member that lags may not have them yet. Then fetch
// reads again, linearizably.
func (s *Store) fetch(ctx context.Context, keys []string) ([]*mvccpb.KeyValue, error) {
	kvs, missing, err := s.fetchWith(ctx, keys, s.readOptions)
	if err == nil && missing != "" && s.config.Serializable {
		kvs, missing, err = s.fetchWith(ctx, keys, nil)
	}
	if err == nil && missing != "" {
		err = damaged("the record %q is missing", missing)
	}
	return kvs, err
}

func (s *Store) fetchWith(ctx context.Context, keys []string, options []clientv3.OpOption) (kvs []*mvccpb.KeyValue, missing string, err error) {
	ops := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		ops[i] = clientv3.OpGet(s.config.Prefix+key, options...)
	}
	resp, err := s.read(ctx, ops)
	if err != nil {
		return nil, "", err
	}
	kvs = make([]*mvccpb.KeyValue, len(keys))
	for i := range keys {
		if kvs[i] = oneOf(resp.Responses[i]); kvs[i] == nil {
			missing = keys[i]
		}
	}
	return kvs, missing, nil
}

// rangeOf returns what an operation in a transaction has read.
func rangeOf(r *etcdserverpb.ResponseOp) []*mvccpb.KeyValue { return r.GetResponseRange().GetKvs() }

// oneOf returns the one key that an operation has read, nil if it does not
// exist.
func oneOf(r *etcdserverpb.ResponseOp) *mvccpb.KeyValue {
	if kvs := rangeOf(r); len(kvs) > 0 {
		return kvs[0]
	}
	return nil
}

// request is a request to one member.
type request = func(context.Context, *clientv3.Client) (*etcdserverpb.ResponseHeader, error)

// call sends a request that only reads. After a transient failure it sends the
// request to another member, until the timeout.
func (s *Store) call(ctx context.Context, do request) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if s.reading.Add(1) > maxReads {
		s.reading.Add(-1)
		return errBusy
	}
	defer s.reading.Add(-1)
	end := time.Now().Add(s.config.RequestTimeout)
	for n := 0; ; n++ {
		before := s.revision.Load()
		header, err := s.attempt(ctx, end, do)
		if err == nil {
			s.setResponding(nil)
			return s.sameCluster(header, before)
		}
		if err := s.usable(ctx); err != nil {
			return err
		}
		if !transient(err) {
			return s.explain(err)
		}
		if !s.pause(ctx, end, n) {
			s.setResponding(err)
			return unavailable(err)
		}
	}
}

// attempt sends a request once, to the member that responded last. If it does
// not respond now, the next request goes to the next member. A single client of
// etcd for all members would ask them in turn: if one of three hung, every third
// request would wait for its timeout.
func (s *Store) attempt(ctx context.Context, end time.Time, do request) (*etcdserverpb.ResponseHeader, error) {
	at := s.current.Load()
	try, cancel := context.WithTimeout(ctx, s.config.attemptTimeout(time.Until(end)))
	defer cancel()
	member, err := s.members[int(at)%len(s.members)].connected(s.config)
	var header *etcdserverpb.ResponseHeader
	if err == nil {
		header, err = do(clientv3.WithRequireLeader(try), member)
	}
	if err != nil && transient(err) && ctx.Err() == nil {
		s.current.CompareAndSwap(at, at+1) // once, though many requests may fail
	}
	return header, err
}

// pause waits before a request is sent again, longer each time. It reports
// whether there is time left.
func (s *Store) pause(ctx context.Context, end time.Time, n int) bool {
	d := 10 * time.Millisecond << min(n, 4)
	return sleep(ctx, end, d/2+rand.N(d))
}

// sleep waits for d. It reports false if that would take until after end, or if
// ctx ends.
func sleep(ctx context.Context, end time.Time, d time.Duration) bool {
	if time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// transient reports whether a request that failed with err may succeed if it is
// repeated: when the cluster has no leader, or a member is stopping or does not
// respond.
func transient(err error) bool {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return true
	case errors.Is(err, rpctypes.ErrTooManyRequests), errors.Is(err, rpctypes.ErrInvalidAuthToken), errors.Is(err, rpctypes.ErrAuthOldRevision):
		return true
	}
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	}
	return false
}

func codeOf(err error) codes.Code {
	var e rpctypes.EtcdError
	if errors.As(err, &e) {
		return e.Code()
	}
	return status.Code(err)
}

func unavailable(err error) error {
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the cluster is not responding", Err: err}
}

// explain turns a refusal by etcd into an error of the store.
func (s *Store) explain(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return &petstore.Error{Code: petstore.CodeFull, Message: "there is no room to store this", Err: err}
	case errors.Is(err, rpctypes.ErrRequestTooLarge), errors.Is(err, rpctypes.ErrTooManyOps):
		// The members were started with limits below etcd's defaults.
		return &petstore.Error{Code: petstore.CodeFull, Message: "the cluster does not accept requests of this size", Err: err}
	}
	s.setResponding(err)
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the cluster refuses this now", Err: err}
}

// setResponding records whether the cluster responds, and logs a change. err is
// why it does not.
func (s *Store) setResponding(err error) {
	switch {
	case err == nil && s.silent.Load():
		if s.silent.CompareAndSwap(true, false) {
			s.config.Logger.Info("the cluster responds again")
		}
	case err != nil && s.silent.CompareAndSwap(false, true):
		s.config.Logger.Warn("the cluster does not respond", "err", err)
	}
}
