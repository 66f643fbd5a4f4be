package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Endpoint is what a store knows about one of its endpoints.
type Endpoint struct {
	URL     string
	State   string  // Responds, or what is wrong
	Calls   int64   // requests, failed ones included
	Failed  int64   // requests; each was repeated, unless its time was over
	Seconds float64 // how long the calls took together
}

// Responds is the state of an endpoint that can be used.
const Responds = "responds"

// Endpoints returns the state of each endpoint, in the order of the
// configuration.
func (s *Store) Endpoints() []Endpoint {
	var all []Endpoint
	for _, m := range s.members {
		m.mu.Lock()
		all = append(all, m.Endpoint)
		m.mu.Unlock()
	}
	return all
}

// check reads a key in the member's own state. It also keeps the member's token
// from expiring. It returns the state of the member, and the ID of its cluster if
// it responds.
func (m *member) check(ctx context.Context) (state string, cluster uint64) {
	ctx, cancel := context.WithTimeout(ctx, m.config.RequestTimeout/2)
	defer cancel()
	resp, err := m.send(ctx, txn{then: []clientv3.Op{clientv3.OpGet(stateKey, clientv3.WithSerializable(), clientv3.WithKeysOnly())}})
	e, _ := errors.AsType[*memberError](err)
	switch {
	case err == nil:
		return Responds, resp.Header.ClusterId
	case errors.Is(err, rpctypes.ErrNoLeader):
		return "has no leader", 0
	case transient(err):
		return "does not respond: " + e.reason(), 0
	}
	return "refuses requests: " + e.reason(), 0
}

// connect makes the members and checks all. Those that respond must belong to one
// cluster, which becomes the cluster of the store.
func (s *Store) connect(ctx context.Context) error {
	for _, e := range s.config.Endpoints {
		m, err := newMember(e, &s.config)
		if err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
		s.members = append(s.members, m)
	}
	states, clusters := make([]string, len(s.members)), make([]uint64, len(s.members))
	var wg sync.WaitGroup
	for i, m := range s.members {
		wg.Go(func() { states[i], clusters[i] = m.check(ctx) })
	}
	wg.Wait()
	var all []string
	several := false
	for i, m := range s.members {
		s.cluster = cmp.Or(s.cluster, clusters[i])
		s.judge(m, states[i], clusters[i])
		several = several || states[i] == Responds && !m.ours.Load()
		all = append(all, m.URL+" "+m.State)
	}
	switch {
	case s.cluster == 0:
		return errors.New("no member of the cluster can be used: " + strings.Join(all, ", "))
	case several:
		return errors.New("the endpoints belong to different clusters: " + strings.Join(all, ", "))
	}
	return nil
}

// judge sets the state of a member that was checked, and returns the one before.
// A member is used only after it has turned out to belong to the cluster of the
// store.
func (s *Store) judge(m *member, state string, cluster uint64) (before string) {
	switch {
	case state != Responds:
	case cluster == s.cluster:
		m.ours.Store(true)
	case m.ours.Load():
		_ = s.otherCluster(m.URL, cluster)
	default:
		state = fmt.Sprintf("is not used: it belongs to cluster %x, and the others to %x", cluster, s.cluster)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before, m.State = m.State, state
	return before
}

// checkInterval is how often each member is checked.
const checkInterval = 2 * time.Second

// watch checks a member until the store is closed, and logs when its state
// changes, but not when only the reason does.
func (s *Store) watch(m *member) {
	for sleep(s.context, checkInterval) {
		state, cluster := m.check(clientv3.WithRequireLeader(s.context))
		if s.context.Err() != nil {
			return
		}
		before, _, _ := strings.Cut(s.judge(m, state, cluster), ": ")
		if kind, _, _ := strings.Cut(m.State, ": "); kind == before {
			continue
		}
		log := s.config.Logger.Warn
		if m.State == Responds {
			log = s.config.Logger.Info
		}
		log("endpoint", "url", m.URL, "state", m.State)
	}
}
