package local

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Member is a member of the cluster: an etcd server.
type Member struct {
	child
	client   string // host:port
	peer     string // host:port that it listens on for other members
	reached  string // host:port that other members connect to
	extra    []string
	existing bool // it joins an existing cluster
}

// URL returns the member's client URL.
func (m *Member) URL() string { return "http://" + m.client }

// peerURL returns the URL that other members connect to.
func (m *Member) peerURL() string { return "http://" + m.reached }

// Name returns the member's name in the cluster.
func (m *Member) Name() string { return m.name }

// DataDir returns the folder that holds the member's data.
func (m *Member) DataDir() string { return filepath.Join(m.dir, "data") }

// run starts the member of a cluster of all.
func (m *Member) run(all []*Member) error {
	var initial []string
	for _, o := range all {
		initial = append(initial, o.name+"="+o.peerURL())
	}
	state := "new"
	if m.existing {
		state = "existing"
	}
	args := []string{
		"--name=" + m.name,
		"--data-dir=" + m.DataDir(),
		"--listen-client-urls=" + m.URL(),
		"--advertise-client-urls=" + m.URL(),
		"--listen-peer-urls=http://" + m.peer,
		"--initial-advertise-peer-urls=" + m.peerURL(),
		"--initial-cluster=" + strings.Join(initial, ","),
		"--initial-cluster-state=" + state,
		"--initial-cluster-token=petstore-local",
		"--auto-compaction-mode=periodic",
		"--auto-compaction-retention=5m",
		"--logger=zap",
		"--log-level=warn",
	}
	return m.start(append(args, m.extra...)...)
}

// AddArgs gives the member more flags of etcd, from its next start on. If a flag
// is repeated, the last one counts.
func (m *Member) AddArgs(args ...string) { m.extra = append(slices.Clip(m.extra), args...) }

// Wipe removes the data of a member that is not running, as if it had lost its
// disk.
func (m *Member) Wipe() error { return os.RemoveAll(m.DataDir()) }

// Status returns the status that the member reports.
func (m *Member) Status(ctx context.Context) (status *clientv3.StatusResponse, err error) {
	err = m.ask(ctx, func(ctx context.Context, c *clientv3.Client) (err error) {
		status, err = c.Status(ctx, m.URL())
		return err
	})
	return status, err
}

// Healthy returns why the member does not serve a linearizable read, nil if it
// does.
func (m *Member) Healthy(ctx context.Context) error {
	return m.ask(ctx, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Get(clientv3.WithRequireLeader(ctx), "health")
		return err
	})
}

// ask calls do with a client of only this member, and with two seconds of time.
func (m *Member) ask(ctx context.Context, do func(context.Context, *clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{m.URL()}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return do(ctx, c)
}

// accepts reports whether the member accepts connections.
func (m *Member) accepts() bool {
	conn, err := net.DialTimeout("tcp", m.client, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// newMember returns a member that has not been started and has no addresses yet.
func newMember(dir, name string, extra []string) *Member {
	m := &Member{extra: extra}
	m.child = child{name: name, role: roleMember, dir: filepath.Join(dir, name)}
	return m
}
