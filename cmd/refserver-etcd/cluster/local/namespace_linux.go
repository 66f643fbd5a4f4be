package local

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces is the network Namespaced. A bridge in a namespace of its own
// connects this process and the members:
//
//	this process ── bridge ── eth0 of a member
//	                  ├────── eth0 of another
//
// The namespaces have no names. Each exists as long as an idle process in it.
// These processes end with this one, even if it crashes, and their namespaces
// and interfaces vanish with them.
type namespaces struct {
	subnet  netip.Prefix
	claim   net.Listener // reserves the subnet
	hub     *holder      // of the bridge
	members map[*Member]*holder
}

// holder is an idle process that keeps a network namespace.
type holder struct {
	cmd   *exec.Cmd
	stdin io.Closer
	addr  netip.Addr
	port  string // the port of the bridge that eth0 is connected to
}

func newHolder() (*holder, error) {
	h := &holder{cmd: exec.Command("cat")}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: unix.CLONE_NEWNET}
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoNamespaces, err)
	}
	return h, nil
}

func (h *holder) pid() string { return strconv.Itoa(h.cmd.Process.Pid) }

func (h *holder) end() {
	_ = h.stdin.Close()
	_ = h.cmd.Wait()
}

// ip runs commands of ip(8), one on each line, in the namespace of h, or in that
// of this process if h is nil.
func (h *holder) ip(commands string) error {
	for line := range strings.Lines(commands) {
		args := append([]string{"ip"}, strings.Fields(line)...)
		if h != nil {
			args = append([]string{"nsenter", "--net=/proc/" + h.pid() + "/ns/net"}, args...)
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func newNamespaces() (network, error) {
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoNamespaces, err)
		}
	}
	hub, err := newHolder()
	if err != nil {
		return nil, err
	}
	n := &namespaces{hub: hub, members: map[*Member]*holder{}}
	if n.subnet, n.claim, err = freeSubnet(); err != nil {
		hub.end()
		return nil, err
	}
	// The name of this process's interface is unique because process IDs are.
	outside := "petstore" + hub.pid()
	err = hub.ip("link add bridge type bridge\n link set bridge up")
	if err == nil {
		err = (*holder)(nil).ip(fmt.Sprintf(`link add %s type veth peer name outside netns %s
			addr add %s/24 dev %s
			link set %s up`, outside, hub.pid(), n.addr(1), outside, outside))
	}
	if err == nil {
		err = hub.ip("link set outside master bridge up")
	}
	if err != nil {
		n.close()
		return nil, fmt.Errorf("%w: %w", ErrNoNamespaces, err)
	}
	return n, nil
}

// freeSubnet returns an unused subnet of the addresses reserved for network tests
// (RFC 2544), and an abstract Unix socket, whose name reserves the subnet while
// it is open.
func freeSubnet() (netip.Prefix, net.Listener, error) {
	used, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Prefix{}, nil, err
	}
	for _, i := range rand.Perm(256) {
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 0}), 24)
		if slices.ContainsFunc(used, func(a net.Addr) bool {
			p, err := netip.ParsePrefix(a.String())
			return err == nil && p.Overlaps(subnet)
		}) {
			continue
		}
		if claim, err := net.Listen("unix", "@petstore "+subnet.String()); err == nil {
			return subnet, claim, nil
		}
	}
	return netip.Prefix{}, nil, errors.New("no free subnet in 198.18.0.0/16")
}

// addr returns the i-th address of the subnet.
func (n *namespaces) addr(i int) netip.Addr {
	b := n.subnet.Addr().As4()
	b[3] = byte(i)
	return netip.AddrFrom4(b)
}

func (n *namespaces) join(m *Member) error {
	h, err := newHolder()
	if err != nil {
		return err
	}
	n.members[m] = h
	i := len(n.members)
	h.addr, h.port = n.addr(1+i), "member"+strconv.Itoa(i)
	m.client, m.peer = net.JoinHostPort(h.addr.String(), "2379"), net.JoinHostPort(h.addr.String(), "2380")
	m.reached = m.peer
	m.role = roleMember + "@" + h.pid()
	err = n.hub.ip(fmt.Sprintf(`link add %s type veth peer name eth0 netns %s
		link set %s master bridge up`, h.port, h.pid(), h.port))
	if err != nil {
		return err
	}
	return h.ip(fmt.Sprintf(`addr add %s/24 dev eth0
		link set eth0 up
		link set lo up`, h.addr))
}

// cut makes each of the two send packets for the other to a link-layer address
// that does not exist.
func (n *namespaces) cut(_ *Cluster, a, b *Member, cut bool) error {
	command := "neigh del %s dev eth0"
	if cut {
		command = "neigh replace %s lladdr 02:00:00:00:00:01 nud permanent dev eth0"
	}
	x, y := n.members[a], n.members[b]
	return errors.Join(x.ip(fmt.Sprintf(command, y.addr)), y.ip(fmt.Sprintf(command, x.addr)))
}

// cutOff takes down the member's port of the bridge, as if its cable was pulled.
func (n *namespaces) cutOff(_ *Cluster, m *Member, cut bool) error {
	state := "up"
	if cut {
		state = "down"
	}
	return n.hub.ip("link set " + n.members[m].port + " " + state)
}

func (n *namespaces) close() {
	for _, h := range n.members {
		h.end()
	}
	n.hub.end()
	_ = n.claim.Close()
}

// enter executes this program again in the network namespace of another process.
// It returns only if it fails.
func enter(pid string) error {
	// Setns sets the namespace of this thread, in which Exec starts the program.
	runtime.LockOSThread()
	ns, err := os.Open("/proc/" + pid + "/ns/net")
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(exe, os.Args, os.Environ())
}
