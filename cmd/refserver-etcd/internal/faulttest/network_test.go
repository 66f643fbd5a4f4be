//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/etcd"
)

// serverAddress is the IP address of the tests and the servers. A bridge connects
// them with the members, each of which has a network namespace of its own:
//
//	tests and servers ── bridge ── eth0 of a member
//	                       ├────── eth0 of another
const serverAddress = "10.0.0.4"

func setUpNetwork() error {
	return ip("", `
		link set lo up
		link add bridge type bridge
		addr add `+serverAddress+`/16 dev bridge
		link set bridge up`)
}

// ip runs commands of ip(8), one on each line, in the network namespace of a
// process, "" for this one.
func ip(pid, commands string) error {
	args := []string{"ip", "-batch", "-"}
	if pid != "" {
		args = append(inNamespaceOf(pid), args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(commands + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s\n%w: %s", commands, err, out)
	}
	return nil
}

// inNamespaceOf returns the prefix of commands that run in the network namespace
// of a process.
func inNamespaceOf(pid string) []string {
	return []string{"nsenter", "--net=/proc/" + pid + "/ns/net"}
}

// machine is a network namespace with a cable to the bridge.
type machine struct {
	pid  string // an idle process in the namespace
	port string // of the bridge
	addr string // IP address
}

var machines int

// newMachine connects a new machine, which ends with the test. Without an IP
// address it gets an unused one.
func newMachine(t *testing.T, addr string) *machine {
	t.Helper()
	idle := exec.Command("cat")
	idle.SysProcAttr = namespace()
	stdin, err := idle.StdinPipe()
	if err == nil {
		err = idle.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = idle.Wait()
	})
	machines++
	if addr == "" {
		addr = fmt.Sprint("10.0.1.", machines)
	}
	m := &machine{strconv.Itoa(idle.Process.Pid), fmt.Sprint("port", machines), addr}
	err = ip("", fmt.Sprintf(`
		link add %[1]s type veth peer name eth0 netns %[2]s
		link set %[1]s master bridge up`, m.port, m.pid))
	if err == nil {
		err = ip(m.pid, fmt.Sprintf(`
			addr add %s/16 dev eth0
			link set eth0 up
			link set lo up`, m.addr))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pull pulls a member's cable. The member is cut off from everything.
func (c *cluster) pull(m *etcd.Member) error {
	return ip("", "link set "+c.machines[m].port+" down")
}

// cut cuts the connection between two members. Each of them then sends its
// packets for the other to a link-layer address that does not exist.
func (c *cluster) cut(a, b *etcd.Member) error {
	const command = "neigh replace %s lladdr 02:00:00:00:00:01 nud permanent dev eth0"
	x, y := c.machines[a], c.machines[b]
	return errors.Join(ip(x.pid, fmt.Sprintf(command, y.addr)), ip(y.pid, fmt.Sprintf(command, x.addr)))
}

// separate cuts a member off from the other members. Servers still reach it.
func (c *cluster) separate(m *etcd.Member) (err error) {
	for _, other := range c.members {
		if other != m {
			err = errors.Join(err, c.cut(m, other))
		}
	}
	return err
}

// pause stops a member, which keeps its connections.
func (c *cluster) pause(m *etcd.Member) error { return m.Signal(syscall.SIGSTOP) }

// restore ends the effects of pull, cut, separate and pause.
func (c *cluster) restore() (err error) {
	for m, x := range c.machines {
		err = errors.Join(err, m.Signal(syscall.SIGCONT),
			ip("", "link set "+x.port+" up"),
			ip(x.pid, "neigh flush dev eth0 nud permanent"))
	}
	return err
}
