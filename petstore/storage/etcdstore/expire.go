package etcdstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// No server's clock decides when outcomes expire. A process writes under a name
// for at most half an hour, then under another one. Each name has a record with
// a lease of 25 hours, which the cluster deletes by its own clock. After that
// any process may delete the outcomes that were written under the name.
//
// The outcomes themselves have no lease: in a cluster with users, a put with a
// lease checks the permission for every key that has the lease.

// maxNumber limits the transactions under a name. A read of some of their records
// stays fast, although etcd counts all of them for it.
const maxNumber = 10_000

// identify gives the process a new name, unless its name can still be used.
func (s *Store) identify(ctx context.Context) error {
	c, maxAge := &s.committer, s.config.onceKept/48
	// The monotonic clock may stop while the machine sleeps. The wall clock
	// may be set.
	now, wall := time.Now(), s.config.Now().UnixNano()
	age := time.Duration(wall - c.namedWall)
	if c.name != "" && c.number < maxNumber && now.Sub(c.named) < maxAge && age >= 0 && age < maxAge {
		return nil
	}
	c.name = ""
	name := numbered("", rand.Int64())
	// Without a store, the cluster may be another one, and gets no key.
	resp, _, err := s.call(ctx, txn{
		compares: []clientv3.Cmp{exists(stateKey)},
		then:     []clientv3.Op{put(leaseKey+name, nil)},
		ttl:      int64((s.config.onceKept+2*maxAge)/time.Second) + 1,
	})
	if err == nil && !resp.Succeeded {
		err = damaged("the record %q is missing", stateKey)
	}
	if err == nil {
		c.name, c.number, c.named, c.namedWall = name, 0, now, wall
	}
	return err
}

// expireInterval is about how often a process looks for expired outcomes.
const expireInterval = time.Minute

// expireAll deletes expired outcomes until the store is closed. Every process
// does this in the background, so that creations need not.
func (s *Store) expireAll() {
	for sleep(s.context, expireInterval/2+rand.N(expireInterval)) {
		if err := s.expire(s.context); err != nil && s.context.Err() == nil {
			s.config.Logger.Warn("expired outcomes of idempotent creations could not be deleted", "err", err)
		}
	}
}

// expire deletes what was written under names whose lease has ended. It only
// deletes, which a cluster without space accepts.
func (s *Store) expire(ctx context.Context) error {
	limit, cancel := s.limit(ctx)
	defer cancel()
	found, err := s.read(limit,
		clientv3.OpGet(leaseKey, clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(writerKey, clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	errs := []error{err}
	for key := range found {
		if name, ok := strings.CutPrefix(key, writerKey); ok && len(name) == 8 && found[leaseKey+name] == nil {
			for more := true; more; {
				more, err = s.expireSome(ctx, name)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// expireStep is how many records of outcomes one transaction deletes, with the
// outcomes. More would stall the cluster.
const expireStep = 16

// expireSome deletes outcomes that were written under a name, and in the end the
// mark with that name. more says that it must be called again. If the compare
// fails, the records are gone: deleted by another process, or by an attempt without
// a response. The Once of a deleted outcome may have been used again since.
func (s *Store) expireSome(ctx context.Context, name string) (more bool, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	found, err := s.read(ctx, clientv3.OpGet(onceLogKey+name, clientv3.WithPrefix(), clientv3.WithLimit(expireStep)))
	if err != nil {
		return false, err
	}
	var same []clientv3.Cmp
	var drop []clientv3.Op
	for key, kv := range found {
		digests, err := found.open(key)
		if err != nil {
			return false, err
		}
		same = append(same, clientv3.Compare(clientv3.ModRevision(key), "=", kv.ModRevision))
		drop = append(drop, clientv3.OpDelete(key))
		for digest := range slices.Chunk(digests, sha256.Size) {
			drop = append(drop, clientv3.OpDelete(onceKey+string(digest)))
		}
	}
	if len(found) == 0 {
		// A key of another store or application may look like a mark.
		v, err := s.read(ctx, gets(writerKey+name)...)
		if err != nil || len(v) == 0 {
			return false, err
		}
		if _, err := v.open(writerKey + name); err != nil {
			return false, err
		}
		drop = []clientv3.Op{clientv3.OpDelete(writerKey + name)}
	}
	_, err = s.do(ctx, txn{compares: same, then: nest(drop, maxFlat)})
	return len(found) > 0 && err == nil, err
}
