package etcdstore

import (
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
	URL     string  `json:"url"`
	State   string  `json:"state"`   // "responds", or what is wrong
	Calls   int64   `json:"calls"`   // requests, failed ones included
	Failed  int64   `json:"failed"`  // requests; each was repeated, unless its time was over
	Seconds float64 `json:"seconds"` // how long the calls took together
}

// Endpoints returns the state of each endpoint, in the order of the
// configuration.
func (s *Store) Endpoints() []Endpoint {
	var all []Endpoint
	for _, m := range s.members {
		all = append(all, Endpoint{
			URL:     m.endpoint,
			State:   m.state.Load().String(),
			Calls:   m.calls.Load(),
			Failed:  m.failed.Load(),
			Seconds: time.Duration(m.nanoseconds.Load()).Seconds(),
		})
	}
	return all
}

// memberState is the result of a check. A change of kind is logged.
type memberState struct {
	kind    string // "responds", or what is wrong
	why     string // why it does not respond or refuses requests
	cluster uint64 // the ID of its cluster, if it responds
}

func (s *memberState) String() string {
	if s.why != "" {
		return s.kind + ": " + s.why
	}
	return s.kind
}

// responds is the kind of a member that can be used.
const responds = "responds"

// check reads a key in the member's own state. It also keeps the member's token
// from expiring.
func (m *member) check(ctx context.Context, leader bool) *memberState {
	ctx, cancel := context.WithTimeout(ctx, m.config.RequestTimeout/2)
	defer cancel()
	resp, err := m.send(ctx, txn{
		then:  []clientv3.Op{clientv3.OpGet(m.config.Prefix+aboutKey, clientv3.WithSerializable())},
		stale: !leader,
	})
	if err == nil {
		return &memberState{kind: responds, cluster: resp.Header.ClusterId}
	}
	e, _ := errors.AsType[*memberError](err)
	switch {
	case errors.Is(err, rpctypes.ErrNoLeader):
		return &memberState{kind: "has no leader"}
	case transient(err):
		return &memberState{kind: "does not respond", why: e.reason()}
	}
	return &memberState{kind: "refuses requests", why: e.reason()}
}

// connect checks all members. Those that respond must belong to one cluster,
// which becomes the cluster of the store.
func (s *Store) connect(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, m := range s.members {
		wg.Go(func() { m.state.Store(m.check(ctx, false)) })
	}
	wg.Wait()
	var ids, silent []string
	same := true
	for _, m := range s.members {
		st := m.state.Load()
		if st.kind != responds {
			silent = append(silent, m.endpoint+": "+st.why)
			continue
		}
		m.ours.Store(true)
		if s.cluster == 0 {
			s.cluster = st.cluster
		}
		same = same && s.cluster == st.cluster
		ids = append(ids, fmt.Sprintf("%s to %x", m.endpoint, st.cluster))
	}
	if len(ids) == 0 {
		return errors.New("no member of the cluster can be used: " + strings.Join(silent, ", "))
	}
	if !same {
		return errors.New("the endpoints belong to different clusters: " + strings.Join(ids, ", "))
	}
	return nil
}

// checkInterval is how often each member is checked.
const checkInterval = 2 * time.Second

// watch checks a member until the store is closed, and logs when its state
// changes. A member that did not respond when the store was opened is used only
// after it has turned out to belong to the same cluster.
func (s *Store) watch(m *member) {
	for sleep(s.context, time.Now().Add(time.Minute), checkInterval) {
		st := m.check(s.context, true)
		if s.context.Err() != nil {
			return
		}
		switch {
		case st.kind != responds:
		case st.cluster == s.cluster:
			m.ours.Store(true)
		case m.ours.Load():
			_ = s.otherCluster(m.endpoint, st.cluster)
		default:
			st.kind = fmt.Sprintf("is not used: it belongs to cluster %x, and the others to %x", st.cluster, s.cluster)
		}
		if old := m.state.Swap(st); old.kind == st.kind {
			continue
		}
		log := s.config.Logger.Warn
		if st.kind == responds {
			log = s.config.Logger.Info
		}
		log("endpoint", "url", m.endpoint, "state", st.String())
	}
}
