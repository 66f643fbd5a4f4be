package etcdstore

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// expireInterval is about how often a process looks for expired outcomes.
const expireInterval = time.Minute

// expireAll deletes expired outcomes and old marks of processes, until the store
// is closed. Every process does, so that creations need not.
func (s *Store) expireAll() {
	for {
		select {
		case <-time.After(expireInterval/2 + rand.N(expireInterval)):
		case <-s.context.Done():
			return
		}
		for more := true; more; {
			var err error
			if more, err = s.expireOne(s.context); err != nil && s.context.Err() == nil {
				s.config.Logger.Warn("expired outcomes of idempotent creations could not be deleted", "err", err)
			}
		}
		if err := s.forgetProcesses(s.context); err != nil && s.context.Err() == nil {
			s.config.Logger.Warn("marks of ended processes could not be deleted", "err", err)
		}
	}
}

// expireOne deletes the outcomes of the oldest transaction that has any, and
// their record, if they have expired. It reports whether it did.
func (s *Store) expireOne(ctx context.Context) (bool, error) {
	v, err := s.read(ctx, []string{stateKey, onceEndKey})
	if err != nil {
		return false, err
	}
	st, err := s.stateOf(v)
	if err != nil {
		return false, err
	}
	end, first := v[onceEndKey], int64(1)
	body, err := v.open(onceEndKey)
	if err != nil {
		return false, err
	}
	if len(body) != 8 {
		return false, damaged("the first record of outcomes has %d bytes", len(body))
	}
	if first = int64At(body); first > st.lastOnce {
		return false, nil
	}
	log := numbered(onceLogKey, first)
	if v, err = s.fetch(ctx, []string{log}); err != nil {
		return false, err
	}
	if body, err = v.open(log); err != nil {
		return false, err
	}
	now := s.config.Now().UnixNano()
	if len(body) < 8 || !expired(int64At(body), now) {
		return false, nil
	}
	drop, err := s.deleteOutcomes(ctx, body[8:], now)
	if err != nil {
		return false, err
	}
	first++
	drop = append(drop,
		clientv3.OpDelete(s.config.Prefix+log),
		clientv3.OpPut(s.config.Prefix+onceEndKey, seal(onceEndKey, appendInt64(nil, first))))
	_, err = s.do(ctx, txn{
		compares: []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(s.config.Prefix+onceEndKey), "=", end.ModRevision)},
		then:     drop,
	})
	return err == nil, err
}

// deleteOutcomes returns the operations that delete the outcomes with those
// digests, except those that have been replaced, or are replaced before the
// operations are carried out.
func (s *Store) deleteOutcomes(ctx context.Context, digests []byte, now int64) ([]clientv3.Op, error) {
	var keys []string
	for ; len(digests) >= sha256.Size; digests = digests[sha256.Size:] {
		keys = append(keys, onceKey+string(digests[:sha256.Size]))
	}
	if len(keys) == 0 {
		return nil, nil
	}
	v, err := s.read(ctx, keys)
	if err != nil {
		return nil, err
	}
	var drop []clientv3.Op
	for _, key := range keys {
		kv := v[key]
		if kv == nil {
			continue
		}
		// Damage in an outcome is reported to the call that needs it.
		if o, err := openOutcome(key, kv.Value); err != nil || !expired(o.made, now) {
			continue
		}
		name := s.config.Prefix + key
		drop = append(drop, clientv3.OpTxn(
			[]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(name), "=", kv.ModRevision)},
			[]clientv3.Op{clientv3.OpDelete(name)}, nil))
	}
	return drop, nil
}

// processKept is how long the mark of a process is kept after its last
// transaction. The process itself needs it only for the request timeout.
const processKept = 24 * time.Hour

// forgetProcesses deletes the marks of processes that have not written for
// processKept.
func (s *Store) forgetProcesses(ctx context.Context) error {
	v, err := s.read(ctx, nil, s.rangeOp(writerKey, string(rune(writerKey[0]+1)), clientv3.WithLimit(group)))
	if err != nil {
		return err
	}
	for name, kv := range v {
		body, err := v.open(name)
		if err != nil || len(body) != 16 {
			return damaged("the record %q is not the mark of a process", name)
		}
		if time.Since(time.Unix(0, int64At(body[8:]))) < processKept {
			continue
		}
		_, err = s.do(ctx, txn{
			compares: []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(s.config.Prefix+name), "=", kv.ModRevision)},
			then:     []clientv3.Op{clientv3.OpDelete(s.config.Prefix + name)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
