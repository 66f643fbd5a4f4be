package postgres

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// The roles of a node in a cluster.
const (
	Leader      = "leader"       // the primary
	Synchronous = "sync_standby" // the standby that commits wait for
)

// Cluster is a primary and its standbys, each run by a Patroni of its own. All ask
// the same etcd who is the primary.
type Cluster struct {
	Nodes []*Node

	dir      string
	etcd     *process.Process
	address  string // of etcd
	password string // of every user
}

// RunCluster starts a cluster of three nodes, which ends with the test, and returns
// when the standbys follow the primary. config is the path of deploy/patroni.yml. The
// other settings override its section bootstrap.dcs and have the form of YAML, such as
// "ttl: 20". A cluster needs Linux.
func RunCluster(t testing.TB, config string, settings ...string) *Cluster {
	t.Helper()
	Need(t)
	process.Tool(t, "patroni")
	process.Tool(t, "etcd")
	dir, err := newDir()
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: dir, address: process.FreeAddress(), password: rand.Text()}
	for i := range 3 {
		name := fmt.Sprint("node", i+1)
		c.Nodes = append(c.Nodes, &Node{
			Name:    name,
			Dir:     filepath.Join(dir, name),
			Data:    filepath.Join(dir, name, "data"),
			Address: process.FreeAddress(),
			API:     process.FreeAddress(),
			cluster: c,
		})
	}
	t.Cleanup(func() {
		for _, n := range c.Nodes {
			n.KillAll()
			if t.Failed() {
				t.Logf("%s:\n%s", n.Name, n.log())
			}
		}
		c.etcd.Kill()
		_ = os.RemoveAll(dir)
	})
	if err := c.start(config, settings); err != nil {
		t.Fatal(err)
	}
	process.Eventually(t, "the cluster", c.Ready)
	return c
}

// start configures and starts the cluster.
func (c *Cluster) start(config string, settings []string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	overrides := "watchdog: {mode: off}\n" +
		"postgresql: {parameters: {unix_socket_directories: '', " + // the default may not be writable
		"dynamic_shared_memory_type: mmap}}\n" + // in files: a killed server leaves other memory behind
		"bootstrap: {dcs: {" + strings.Join(settings, ", ") + "}}\n"
	err = errors.Join(own(c.config()),
		os.WriteFile(filepath.Join(c.config(), "1.yml"), text, 0o644), // Patroni reads all, in this order
		os.WriteFile(filepath.Join(c.config(), "2.yml"), []byte(overrides), 0o644))
	if err != nil {
		return err
	}
	if err := c.startEtcd(); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if err := n.Start(); err != nil {
			return err
		}
	}
	return nil
}

// startEtcd starts etcd, and returns when it accepts connections.
func (c *Cluster) startEtcd() (err error) {
	client, peer := "http://"+c.address, "http://"+process.FreeAddress()
	c.etcd, err = start(c.dir, syscall.SIGKILL, nil, "etcd", "--data-dir=etcd", "--log-level=error",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err != nil {
		return err
	}
	return c.etcd.Until("etcd accepts connections", func() bool {
		conn, err := net.DialTimeout("tcp", c.address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// config returns the directory with the configuration of Patroni.
func (c *Cluster) config() string { return filepath.Join(c.dir, "config") }

// URL returns the URL for clients of a database, with the addresses of nodes.
func (c *Cluster) URL(database string, nodes ...*Node) string {
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.Address)
	}
	return databaseURL("postgres:"+c.password, database, addresses...)
}

// Node returns the first node that has the role, as etcd says. A leader that was killed
// has its role until its lease in etcd ends.
func (c *Cluster) Node(role string) (*Node, error) {
	err := errors.New("the cluster has no nodes")
	for _, asked := range c.Nodes {
		var cluster struct{ Members []struct{ Name, Role string } }
		if err = asked.call("GET", "/cluster", nil, &cluster); err != nil {
			continue
		}
		for _, m := range cluster.Members {
			i := slices.IndexFunc(c.Nodes, func(n *Node) bool { return n.Name == m.Name })
			if m.Role == role && i >= 0 {
				return c.Nodes[i], nil
			}
		}
		return nil, fmt.Errorf("no node has the role %s", role)
	}
	return nil, fmt.Errorf("no node responds: %w", err)
}

// Ready returns nil if there is a primary, all other nodes follow it, and one of them
// is the synchronous standby. Otherwise the error says what is missing.
func (c *Cluster) Ready() error {
	leader, err := c.Node(Leader)
	if err != nil {
		return err
	}
	var status struct {
		Role        string // "replica", or "master", which Patroni 4 calls "primary"
		Replication []struct {
			Name  string `json:"application_name"` // of the standby
			State string // "streaming", if it follows
		}
	}
	if err := leader.call("GET", "/patroni", nil, &status); err != nil {
		return err
	}
	followers := 0
	for _, standby := range status.Replication {
		if standby.State == "streaming" && standby.Name != "pg_basebackup" { // which copies for a new standby
			followers++
		}
	}
	if status.Role == "replica" || followers < len(c.Nodes)-1 {
		return fmt.Errorf("%s is a %s with %d standbys", leader.Name, status.Role, followers)
	}
	_, err = c.Node(Synchronous)
	return err
}

// Switchover makes the synchronous standby the primary. It returns when that is done.
func (c *Cluster) Switchover() error {
	leader, err := c.Node(Leader)
	if err != nil {
		return err
	}
	to, err := c.Node(Synchronous)
	if err != nil {
		return err
	}
	return leader.call("POST", "/switchover", map[string]string{"leader": leader.Name, "candidate": to.Name}, nil)
}
