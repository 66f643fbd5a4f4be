//go:build linux

package postgrestest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// cluster is three nodes, an etcd that all of them ask who is the primary, and two
// servers of the petstore.
type cluster struct {
	dir      string
	etcd     string // its address
	password string // of every user
	nodes    []*node
	servers  []*server
}

// node is a machine with Patroni, which is the embedded process, and PostgreSQL.
type node struct {
	machine
	address string // of PostgreSQL
	api     string // the address of Patroni's API
}

// runCluster starts a cluster, which ends with the test, and returns when the standbys
// follow the primary.
func runCluster(t *testing.T) *cluster {
	t.Helper()
	Need(t)
	process.Tool(t, "patroni")
	process.Tool(t, "etcd")
	dir, end, err := newDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	c := &cluster{dir: dir, etcd: process.FreeAddress(), password: rand.Text()}
	config := dir + "/config" // of Patroni, which reads all files in this order
	t.Cleanup(func() {
		for _, n := range c.nodes {
			if log, _ := os.ReadFile(n.dir + "/log"); t.Failed() {
				t.Logf("%s:\n%s", n.name, log)
			}
		}
	})
	settings, err := os.ReadFile("../../../deploy/patroni.yml")
	overrides := `
watchdog: {mode: off}
postgresql:
  parameters:
    unix_socket_directories: '' # the default may not be writable
    dynamic_shared_memory_type: mmap # in files: a killed server leaves other memory behind
bootstrap:
  dcs: {ttl: 20, loop_wait: 5, retry_timeout: 5}
`
	err = errors.Join(err, os.Mkdir(config, 0o755),
		os.WriteFile(config+"/1.yml", settings, 0o644),
		os.WriteFile(config+"/2.yml", []byte(overrides), 0o644),
		startEtcd(dir, c.etcd))
	for i := range 3 {
		n := c.newNode(fmt.Sprint("node", i+1))
		c.nodes = append(c.nodes, n)
		err = errors.Join(err, n.Start())
	}
	if err != nil {
		t.Fatal(err)
	}
	c.untilReady(t)
	for i := range 2 {
		c.servers = append(c.servers, c.newServer(t, i))
	}
	return c
}

// startEtcd starts etcd, and returns when it serves clients. It asks the log, as an etcd of
// an earlier run may use the address: then this one ends.
func startEtcd(dir, address string) error {
	client, peer := "http://"+address, "http://"+process.FreeAddress()
	p, err := process.Start(command(dir, "etcd", "--data-dir=etcd",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer))
	if err != nil {
		return err
	}
	return p.Until("etcd serves clients", func() bool { return strings.Contains(p.Stderr.String(), "ready to serve client requests") })
}

// newNode returns a node. Its start does not wait until PostgreSQL serves. Patroni starts
// PostgreSQL unless it runs, and copies the primary if there is no data.
func (c *cluster) newNode(name string) *node {
	n := &node{
		machine: machine{name: name, dir: filepath.Join(c.dir, name)},
		address: process.FreeAddress(),
		api:     process.FreeAddress(),
	}
	env := []string{
		"HOME=" + n.dir, // for the file with passwords
		"PATRONI_NAME=" + n.name,
		"PATRONI_POSTGRESQL_LISTEN=" + n.address,
		"PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + n.address,
		"PATRONI_POSTGRESQL_DATA_DIR=" + n.data(),
		"PATRONI_POSTGRESQL_BIN_DIR=" + programs(),
		"PATRONI_RESTAPI_LISTEN=" + n.api,
		"PATRONI_RESTAPI_CONNECT_ADDRESS=" + n.api,
		"PATRONI_ETCD3_HOSTS=" + c.etcd,
	}
	for _, user := range []string{"SUPERUSER", "REPLICATION", "REWIND", "RESTAPI"} {
		env = append(env, "PATRONI_"+user+"_PASSWORD="+c.password)
	}
	n.start = func() (*process.Process, error) {
		// The outputs go to a file: PostgreSQL has them too and may outlive Patroni.
		cmd := command(c.dir, "sh", "-c", `mkdir -p "$0" && cd "$0" && exec patroni "$1" >>log 2>&1`, n.dir, c.dir+"/config")
		cmd.Env = append(cmd.Env, env...)
		return process.Start(cmd)
	}
	return n
}

// data returns PostgreSQL's data directory.
func (m *machine) data() string { return filepath.Join(m.dir, "data") }

// url returns the URL of the database. The i-th node is the first one in it.
func (c *cluster) url(i int) string {
	var addresses []string
	for _, n := range slices.Concat(c.nodes[i:], c.nodes[:i]) {
		addresses = append(addresses, n.address)
	}
	return databaseURL("postgres:"+c.password, addresses...)
}

// state is what the nodes say about themselves.
type state struct {
	primary   *node
	standbys  []*node // that follow the primary
	confirmed *node   // the standby that commits wait for, as etcd says; nil: none
}

// state asks each node. It returns an error if none of them is the primary.
func (c *cluster) state() (*state, error) {
	var now state
	err := errors.New("no node is the primary")
	for _, n := range c.nodes {
		var status struct {
			Role        string // "replica", or "master", which Patroni 4 calls "primary"
			State       string
			Confirmed   bool `json:"sync_standby"`
			Replication []struct {
				Name  string `json:"application_name"` // of the standby
				State string // "streaming", if it follows
			}
		}
		if e := c.call(n, "GET", "/patroni", nil, &status); e != nil {
			err = errors.Join(err, e)
			continue
		}
		if status.Confirmed {
			now.confirmed = n
		}
		if status.Role == "replica" || status.State != "running" {
			continue
		}
		now.primary = n
		for _, r := range status.Replication {
			i := slices.IndexFunc(c.nodes, func(n *node) bool { return n.name == r.Name }) // pg_basebackup is none
			if i >= 0 && r.State == "streaming" {
				now.standbys = append(now.standbys, c.nodes[i])
			}
		}
	}
	if now.primary == nil {
		return nil, err
	}
	return &now, nil
}

// untilReady waits until all nodes follow a primary.
func (c *cluster) untilReady(t *testing.T) *state {
	t.Helper()
	var now *state
	process.Eventually(t, "the cluster", func() (err error) {
		now, err = c.state()
		if err == nil && (len(now.standbys) < len(c.nodes)-1 || now.confirmed == nil) {
			err = fmt.Errorf("%s is the primary, with %d standbys", now.primary.name, len(now.standbys))
		}
		return err
	})
	return now
}

// call sends a request to the Patroni of a node, and decodes the response.
func (c *cluster) call(n *node, method, path string, body io.Reader, v any) error {
	req, err := http.NewRequest(method, "http://"+n.api+path, body)
	if err != nil {
		return err
	}
	req.SetBasicAuth("patroni", c.password)
	client := http.Client{Timeout: 5 * time.Second} // Patroni may be stopped
	if method == "POST" {
		client.Timeout = time.Minute // a switchover takes time
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && method == "GET" {
		return json.Unmarshal(text, v)
	}
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s of %s: %s: %s", path, n.name, resp.Status, text)
	}
	return err
}
