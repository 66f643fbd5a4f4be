package etcdstore

import (
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// member is a member of the cluster and the client for it. The client is created
// at the first request: if the cluster has users, that needs a response of the
// member, and a store must open even if a member is down.
type member struct {
	endpoint string
	mu       sync.Mutex // held while the client is created
	client   atomic.Pointer[clientv3.Client]
}

// connected returns the member's client. While one caller creates it, the others
// get errConnecting.
func (m *member) connected(config Config) (*clientv3.Client, error) {
	if c := m.client.Load(); c != nil {
		return c, nil
	}
	if !m.mu.TryLock() {
		return nil, errConnecting
	}
	defer m.mu.Unlock()
	if c := m.client.Load(); c != nil {
		return c, nil
	}
	c, err := config.client(m.endpoint)
	if err == nil {
		m.client.Store(c)
	}
	return c, err
}

// disconnect closes all clients. It ignores their errors, which nobody can use.
func (s *Store) disconnect() {
	for _, m := range s.members {
		m.mu.Lock()
		if c := m.client.Load(); c != nil {
			_ = c.Close()
		}
		m.mu.Unlock()
	}
}
