package local

import (
	"errors"
	"strconv"
)

// Network says how members are connected, and how they can be cut off.
type Network int

const (
	// Direct: members connect directly on loopback. Nothing can be cut.
	Direct Network = iota

	// Proxied: members connect to each other through proxies in this process,
	// which can go silent. Clients connect directly and are never cut off.
	Proxied

	// Namespaced: each member has a network namespace and an interface of its
	// own. A member that is cut off is cut off from clients too. This needs
	// Linux and root.
	Namespaced
)

// ErrNoNamespaces says that this system has no network namespaces, or does not
// allow this process to use them.
var ErrNoNamespaces = errors.New("network namespaces are not available")

var errUncut = errors.New("the network cannot be cut")

// network connects members.
type network interface {
	// join gives a member its addresses, before it is started.
	join(m *Member) error

	// cut cuts the connection of two members, or restores it.
	cut(c *Cluster, a, b *Member, cut bool) error

	// cutOff cuts a member off from all others, or reconnects it.
	cutOff(c *Cluster, m *Member, cut bool) error

	// close removes the network after its members have ended.
	close()
}

func newNetwork(n Network) (network, error) {
	switch n {
	case Proxied:
		return proxies{}, nil
	case Namespaced:
		return newNamespaces()
	}
	return direct{}, nil
}

// Cut cuts the connection of two members, or restores it.
func (c *Cluster) Cut(a, b *Member, cut bool) error { return c.network.cut(c, a, b, cut) }

// CutOff cuts a member off from all others, or reconnects it.
func (c *Cluster) CutOff(m *Member, cut bool) error { return c.network.cutOff(c, m, cut) }

// direct is the network Direct.
type direct struct{}

func (direct) join(m *Member) (err error) {
	if m.client, err = freeAddress(); err != nil {
		return err
	}
	m.peer, err = freeAddress()
	m.reached = m.peer
	return err
}

func (direct) cut(*Cluster, *Member, *Member, bool) error { return errUncut }
func (direct) cutOff(*Cluster, *Member, bool) error       { return errUncut }
func (direct) close()                                     {}

// proxies is the network Proxied: the proxy in front of each member.
type proxies map[*Member]*proxy

func (p proxies) join(m *Member) error {
	if err := (direct{}).join(m); err != nil {
		return err
	}
	between, err := newProxy(m.peer)
	if err != nil {
		return err
	}
	p[m], m.reached = between, between.addr
	return nil
}

func (p proxies) cut(c *Cluster, a, b *Member, cut bool) error {
	p[a].setCut(c.senderOf(b), cut)
	p[b].setCut(c.senderOf(a), cut)
	return nil
}

func (p proxies) cutOff(c *Cluster, m *Member, cut bool) error {
	for _, o := range c.Members {
		if o != m {
			_ = p.cut(c, m, o, cut)
		}
	}
	return nil
}

func (p proxies) close() {
	for _, between := range p {
		between.close()
	}
}

// senderOf returns the ID that a member sends in its requests to others.
func (c *Cluster) senderOf(m *Member) string { return strconv.FormatUint(c.ids[m.name], 16) }
