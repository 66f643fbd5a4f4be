package local

import (
	"errors"
	"strconv"
)

// Network says how members reach each other, and how they can be cut off.
type Network int

// The networks there are.
const (
	// Direct connections on loopback, that cannot be cut.
	Direct Network = iota

	// Proxied members reach each other through proxies of this process, which
	// can keep silent. Clients reach them directly, whatever is cut.
	Proxied

	// Namespaced members have a network namespace each, with an interface of
	// its own: clients are cut off from a member that is cut off too. This
	// needs Linux, and root's rights.
	Namespaced
)

// ErrNoNamespaces says that this system does not give network namespaces.
var ErrNoNamespaces = errors.New("network namespaces are not to be had")

var errUncut = errors.New("the network cannot be cut")

// network is what lies between members.
type network interface {
	// join gives a member its addresses, before it is started.
	join(m *Member) error

	// cut keeps two members from each other, or joins them again.
	cut(c *Cluster, a, b *Member, cut bool) error

	// cutOff keeps a member from all others, or joins it to them again.
	cutOff(c *Cluster, m *Member, cut bool) error

	// close removes the network, once its members have ended.
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

// Cut keeps two members from each other, or joins them again.
func (c *Cluster) Cut(a, b *Member, cut bool) error { return c.network.cut(c, a, b, cut) }

// CutOff keeps a member from all others, or joins it to them again.
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

// proxies is the network Proxied: what others reach each member through.
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

// senderOf returns how a member calls itself to others.
func (c *Cluster) senderOf(m *Member) string { return strconv.FormatUint(c.ids[m.name], 16) }
