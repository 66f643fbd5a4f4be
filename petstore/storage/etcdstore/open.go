package etcdstore

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrNoStore is returned by [Open] if there is no store under the prefix, and
// Config.NewStore is not set.
var ErrNoStore = errors.New("there is no store")

// Open opens the store in a cluster. If the cluster cannot be reached or refuses
// the client, or the endpoints belong to different clusters, the error says so
// for each endpoint.
//
// ctx limits only the opening.
func Open(ctx context.Context, config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the store in etcd: %w", err)
	}
	s := &Store{config: config}
	s.filled.L = &s.mu
	s.context, s.cancel = context.WithCancel(context.Background())
	s.failed, s.end = context.WithCancelCause(context.Background())
	s.committer.stopped = make(chan struct{})
	if err = s.connect(ctx); err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		s.cancel()
		s.disconnect()
		return nil, fmt.Errorf("opening the store in etcd: %w", err)
	}
	go s.commitAll()
	s.stopped.Go(s.expireAll)
	for _, m := range s.members {
		s.stopped.Go(func() { s.watch(m) })
	}
	return s, nil
}

// disconnect closes all connections. It ignores the errors, which nobody can use.
func (s *Store) disconnect() {
	for _, m := range s.members {
		_ = m.conn.Close()
	}
}

// prepare makes sure that the prefix holds a store with a known layout. If it
// holds nothing, prepare creates a store.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	if err := s.make(ctx); err != nil {
		return err
	}
	st, err := s.state(ctx)
	if err != nil {
		return err
	}
	attrs := []any{"cluster", fmt.Sprintf("%x", s.cluster), "prefix", s.config.Prefix, "pets", st.lastPet}
	for _, e := range s.Endpoints() {
		attrs = append(attrs, e.URL, e.State)
	}
	s.config.Logger.Info("the store is open", attrs...)
	return nil
}

// make creates an empty store if there is none. It returns an error if the prefix
// holds anything else. It starts with a read, so that an existing store can be
// opened by a user who may only read, and in a cluster without space.
func (s *Store) make(ctx context.Context) error {
	none := []clientv3.Cmp{absent(stateKey)}
	resp, err := s.do(ctx, txn{
		compares: none,
		then:     []clientv3.Op{clientv3.OpGet("", clientv3.WithRange("\x00"), clientv3.WithLimit(1), clientv3.WithKeysOnly())},
	})
	if err != nil || !resp.Succeeded {
		return err
	}
	for key := range (values{}).add(resp.Responses) {
		return fmt.Errorf("another application uses the prefix %q: it has the key %q", s.config.Prefix, s.config.Prefix+key)
	}
	if !s.config.NewStore {
		return fmt.Errorf("%w under the prefix %q", ErrNoStore, s.config.Prefix)
	}
	for _, e := range s.Endpoints() {
		if e.State != Responds {
			return fmt.Errorf("a new store needs a response of every endpoint: %s %s", e.URL, e.State)
		}
	}
	_, err = s.do(ctx, txn{compares: none, then: []clientv3.Op{put(stateKey, new(state).encode())}})
	return err
}
