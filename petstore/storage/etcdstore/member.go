package etcdstore

import (
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// member is a member of the cluster as a client sees it. It is connected when
// it is first asked, since that needs an answer where there are users, and a
// store has to open though a member is down.
type member struct {
	endpoint string
	mu       sync.Mutex // held while it is connected
	client   atomic.Pointer[clientv3.Client]
}

// connected returns the member's client. Only one caller waits for the
// connection; for the others the member does not answer.
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

// disconnect ends the connections. What a client of the engine says of its own
// end is of no use to anybody.
func (s *Store) disconnect() {
	for _, m := range s.members {
		m.mu.Lock()
		if c := m.client.Load(); c != nil {
			_ = c.Close()
		}
		m.mu.Unlock()
	}
}
