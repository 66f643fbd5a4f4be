// Package etcd runs members of etcd on this machine, for the trial cluster and
// for tests.
package etcd

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// Command is the import path of the command that runs a member. Only the module
// example.com/animalstore/cmd/refserver-etcd can build it.
const Command = "example.com/animalstore/cmd/refserver-etcd/internal/etcd"

// Member is a member of a cluster, in a process of its own. The process is nil
// before the first start. The other fields can be changed while it does not run.
type Member struct {
	*process.Process
	Program []string // a command that runs etcd, with its arguments
	Name    string
	Dir     string   // of its data
	URL     string   // for clients
	PeerURL string   // for other members
	Args    []string // more flags of etcd, which override those of Start

	all []*Member
}

// NewMembers returns the n members of a new cluster, with addresses on the
// loopback interface and their data below dir. program is an executable of
// [Command].
func NewMembers(program, dir string, n int, args ...string) []*Member {
	members := make([]*Member, n)
	for i := range members {
		name := fmt.Sprint("member", i+1)
		members[i] = &Member{
			Program: []string{program},
			Name:    name,
			Dir:     filepath.Join(dir, name),
			URL:     "http://" + FreeAddress(),
			PeerURL: "http://" + FreeAddress(),
			Args:    args,
			all:     members,
		}
	}
	return members
}

// Serve starts all members of a cluster, which end with the test.
func Serve(t testing.TB, members []*Member) {
	t.Helper()
	for _, m := range members {
		t.Cleanup(func() { m.Kill() })
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
	}
}

// Start starts a member that does not run, and returns when it accepts
// connections. The member ends with this process, even if this process crashes.
func (m *Member) Start() error {
	var cluster []string
	for _, o := range m.all {
		cluster = append(cluster, o.Name+"="+o.PeerURL)
	}
	cmd := exec.Command(m.Program[0], m.Program[1:]...)
	cmd.Args = append(cmd.Args,
		"--name="+m.Name,
		"--data-dir="+m.Dir,
		"--listen-client-urls="+m.URL,
		"--advertise-client-urls="+m.URL,
		"--listen-peer-urls="+m.PeerURL,
		"--initial-advertise-peer-urls="+m.PeerURL,
		"--initial-cluster="+strings.Join(cluster, ","),
		"--auto-compaction-mode=periodic",
		"--auto-compaction-retention=5m",
		"--log-level=warn",
	)
	cmd.Args = append(cmd.Args, m.Args...)
	cmd.Env = process.Environ()
	if _, err := cmd.StdinPipe(); err != nil { // closed when this process ends, which ends the member
		return err
	}
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	m.Process = p
	_, address, _ := strings.Cut(m.URL, "://")
	err = m.Until("it accepts connections", func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
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

// Eventually waits until ok returns nil, and returns how long that took. It fails
// the test after [process.Patience].
func Eventually(t testing.TB, what string, ok func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := ok()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > process.Patience {
			t.Fatalf("%s: timed out: %v", what, err)
		}
	}
}

// URLs returns the client URLs of members.
func URLs(members []*Member) []string {
	var urls []string
	for _, m := range members {
		urls = append(urls, m.URL)
	}
	return urls
}

// FreeAddress tries one port after the other from firstPort. Other processes begin
// elsewhere.
var (
	firstPort = rand.Uint32N(12_000)
	tried     atomic.Uint32
)

// FreeAddress returns a free loopback address, each time another one. Its port is
// not one of those that the system assigns to outgoing connections, so the address
// is still free when a process is restarted.
func FreeAddress() string {
	for range 1000 {
		addr := fmt.Sprint("127.0.0.1:", 20_000+(firstPort+tried.Add(1))%12_000)
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			return addr
		}
	}
	panic("no free port between 20000 and 32000")
}
