package etcdstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// application says in the record aboutKey that a prefix holds a store. schema is
// the version of the layout in doc.go.
const (
	application = "petstore"
	schema      = 1
)

// Errors of [Open].
var (
	// ErrForeign says that the prefix holds something other than a store.
	ErrForeign = errors.New("the prefix is in use by another application")

	// ErrNewer says that the store has the layout of a newer release.
	ErrNewer = errors.New("the store was made by a newer release")
)

// Open opens the store in a cluster, and creates it if there is none. If the
// cluster cannot be reached or refuses the client, the error says why.
//
// ctx limits only the opening.
func Open(ctx context.Context, config Config) (*Store, error) {
	s, err := connect(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the store in etcd: %w", err)
	}
	return s, nil
}

func connect(ctx context.Context, config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	// etcd's client does not say why it cannot connect.
	if err := config.reach(ctx); err != nil {
		return nil, err
	}
	s := &Store{
		config: config,
		writes: make(chan *write, maxWaiting),
		failed: make(chan struct{}),
	}
	if config.Serializable {
		s.readOptions = []clientv3.OpOption{clientv3.WithSerializable()}
	}
	s.committer.process = writerKey + rand.Text()[:12]
	s.committer.stopped = make(chan struct{})
	s.context, s.cancel = context.WithCancel(context.Background())
	for _, e := range config.Endpoints {
		s.members = append(s.members, &member{endpoint: e})
	}
	if err := s.prepare(ctx); err != nil {
		s.cancel()
		s.disconnect()
		return nil, refused(err)
	}
	go s.commitAll()
	s.stopped.Add(1)
	go s.expireAll()
	return s, nil
}

// refused explains in one line why a cluster refuses the client.
func refused(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return errors.New("the user or the password is wrong")
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return errors.New("the cluster requires a user and a password")
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return errors.New("the user (without one, the name in the certificate) may not read and write the prefix")
	}
	return err
}

// prepare makes sure that the prefix holds a store with a known layout. If it
// holds nothing, prepare creates a store.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	p := s.config.Prefix
	read := []clientv3.Op{clientv3.OpGet(p + aboutKey), clientv3.OpGet(p + stateKey)}
	for n := 0; ; n++ {
		// The first transaction only reads, so that an existing store can be
		// opened by a user who may only read, and in a cluster without space.
		end, _ := ctx.Deadline()
		var resp *clientv3.TxnResponse
		_, err := s.attempt(ctx, end, func(ctx context.Context, member *clientv3.Client) (_ *etcdserverpb.ResponseHeader, err error) {
			resp, err = member.Txn(ctx).Then(read...).Commit()
			if err == nil && oneOf(resp.Responses[0]) == nil {
				if err = s.make(ctx, member); err == nil { // or another process has
					resp, err = member.Txn(ctx).Then(read...).Commit()
				}
			}
			return nil, err
		})
		if err == nil {
			s.cluster = resp.Header.ClusterId
			s.revision.Store(resp.Header.Revision)
			return s.known(resp)
		}
		if !transient(err) || !s.pause(ctx, end, n) {
			return err
		}
	}
}

// make creates an empty store, unless another process has just done so. It
// returns an error if the prefix holds anything else.
func (s *Store) make(ctx context.Context, member *clientv3.Client) error {
	p := s.config.Prefix
	resp, err := member.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p+aboutKey), "=", 0)).
		Then(clientv3.OpGet(p, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())).
		Commit()
	if err != nil || !resp.Succeeded {
		return err
	}
	if other := oneOf(resp.Responses[0]); other != nil {
		return fmt.Errorf("%w: prefix %q has the key %q", ErrForeign, p, other.Key)
	}
	_, err = member.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p+aboutKey), "=", 0)).
		Then(
			clientv3.OpPut(p+aboutKey, seal(aboutKey, append([]byte{schema}, application...))),
			clientv3.OpPut(p+stateKey, seal(stateKey, new(state).encode())),
			clientv3.OpPut(p+onceEndKey, seal(onceEndKey, appendInt64(nil, 1)))).
		Commit()
	return err
}

// known checks the first records of a store: that the layout is known and the
// state is not damaged.
func (s *Store) known(resp *clientv3.TxnResponse) error {
	body, err := openKV(aboutKey, oneOf(resp.Responses[0]))
	if err != nil || len(body) < 1 || string(body[1:]) != application {
		return fmt.Errorf("%w: prefix %q", ErrForeign, s.config.Prefix)
	}
	if body[0] > schema {
		return fmt.Errorf("%w: its layout has version %d, and this release knows %d", ErrNewer, body[0], schema)
	}
	_, err = s.stateOf(resp.Responses[1])
	return err
}
