// Package local runs members of etcd on this machine, for the trial and for
// tests.
package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/internal/process"
)

// Etcd is the import path of the command that runs a member.
const Etcd = "example.com/animalstore/cmd/refserver-etcd/internal/etcd"

// Member is a member of a cluster, in a process of its own. The process is nil
// before the first start.
type Member struct {
	*process.Process
	Name   string
	Dir    string   // of its data
	Client string   // host:port for clients
	Peer   string   // host:port for other members
	Args   []string // more flags of etcd; of repeated ones the last counts
	Prefix []string // a command that runs etcd, with its arguments; nil: none
}

// NewMembers returns the members of a new cluster, with addresses on the
// loopback interface and their data below dir.
func NewMembers(dir string, n int) ([]*Member, error) {
	var members []*Member
	for i := range n {
		m := &Member{Name: "member" + strconv.Itoa(i+1)}
		m.Dir = filepath.Join(dir, m.Name)
		var err error
		if m.Client, err = FreeAddress(); err != nil {
			return nil, err
		}
		if m.Peer, err = FreeAddress(); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// URL returns the member's URL for clients.
func (m *Member) URL() string { return "http://" + m.Client }

// PeerURL returns the member's URL for other members.
func (m *Member) PeerURL() string { return "http://" + m.Peer }

// Start starts the executable etcd as a member of a cluster of all, and returns
// when it accepts connections. It ends with this process, even if that crashes.
func (m *Member) Start(etcd string, all []*Member) error {
	var cluster []string
	for _, o := range all {
		cluster = append(cluster, o.Name+"="+o.PeerURL())
	}
	args := append(append([]string(nil), m.Prefix...), etcd,
		"--name="+m.Name,
		"--data-dir="+m.Dir,
		"--listen-client-urls="+m.URL(),
		"--advertise-client-urls="+m.URL(),
		"--listen-peer-urls="+m.PeerURL(),
		"--initial-advertise-peer-urls="+m.PeerURL(),
		"--initial-cluster="+strings.Join(cluster, ","),
		"--auto-compaction-mode=periodic",
		"--auto-compaction-retention=5m",
		"--log-level=warn",
	)
	cmd := exec.Command(args[0], append(args[1:], m.Args...)...)
	cmd.Env = process.Environ()
	_, err := cmd.StdinPipe() // closed with this process
	if err != nil {
		return err
	}
	if m.Process, err = process.Start(cmd); err != nil {
		return err
	}
	err = m.Until("it accepts connections", func() bool {
		conn, err := net.DialTimeout("tcp", m.Client, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// Wipe removes the data of a member that does not run, as if it had lost its
// disk.
func (m *Member) Wipe() error { return os.RemoveAll(m.Dir) }

// URLs returns the client URLs of members.
func URLs(members []*Member) []string {
	var urls []string
	for _, m := range members {
		urls = append(urls, m.URL())
	}
	return urls
}

// FreeAddress returns a free loopback address. Its port is not one of those that
// the system assigns to outgoing connections, so the address is still free when
// a process is restarted.
func FreeAddress() (string, error) {
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if ln, err := net.Listen("tcp", addr); err == nil {
			return addr, ln.Close()
		}
	}
	return "", errors.New("no free port between 20000 and 32000")
}
