package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Options describes a cluster.
type Options struct {
	Dir        string   // the folder for everything; it must exist
	Members    int      // how many members of etcd
	Servers    int      // how many reference servers
	MemberArgs []string // more flags of etcd
	ServerArgs []string // more flags of refserver-etcd
	Network    Network  // between the members
}

// Cluster is a cluster on this machine.
type Cluster struct {
	Members []*Member
	Servers []*Server
	Key     string // an API key
	Dir     string

	options Options
	network network
	servers int       // how many were created
	all     []*Server // Servers and those of AddServer
	client  *clientv3.Client
	ids     map[string]uint64 // of the members, by name
}

// Start starts a cluster and returns when all members and servers respond. If it
// fails, it leaves no process behind.
func Start(ctx context.Context, o Options) (c *Cluster, err error) {
	c = &Cluster{Dir: o.Dir, options: o}
	defer func() {
		if err != nil {
			c.Kill()
		}
	}()
	if c.network, err = newNetwork(o.Network); err != nil {
		return c, err
	}
	for i := range o.Members {
		m := newMember(o.Dir, "member"+strconv.Itoa(i+1), o.MemberArgs)
		if err := c.network.join(m); err != nil {
			return c, fmt.Errorf("the network of %s: %w", m.name, err)
		}
		c.Members = append(c.Members, m)
	}
	for _, m := range c.Members {
		if err := m.run(c.Members); err != nil {
			return c, err
		}
	}
	if c.client, err = clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Logger: zap.NewNop()}); err != nil {
		return c, err
	}
	for _, m := range c.Members {
		if err := m.until("it accepts connections", m.accepts); err != nil {
			return c, err
		}
	}
	if err := c.WaitReady(ctx); err != nil {
		return c, err
	}
	if err := c.learnIDs(ctx); err != nil {
		return c, err
	}
	if c.Key, err = createKey(o.Dir); err != nil {
		return c, err
	}
	for range o.Servers {
		s, err := c.AddServer()
		if err != nil {
			return c, err
		}
		c.Servers = append(c.Servers, s)
	}
	return c, nil
}

// AddServer starts one more server, with more flags. It is not in c.Servers.
func (c *Cluster) AddServer(args ...string) (*Server, error) {
	c.servers++
	endpoints := c.Endpoints()
	first := c.servers % len(endpoints) // each server asks another member first
	endpoints = append(endpoints[first:], endpoints[:first]...)
	s, err := newServer(c.Dir, "server"+strconv.Itoa(c.servers), endpoints, append(args, c.options.ServerArgs...))
	if err != nil {
		return nil, err
	}
	c.all = append(c.all, s)
	return s, s.Start()
}

// Endpoints returns the client URLs of the members.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.URL())
	}
	return all
}

// Client returns a client of the cluster. It is closed with the cluster.
func (c *Cluster) Client() *clientv3.Client { return c.client }

// WaitReady waits until a majority of the members responds.
func (c *Cluster) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := c.client.Get(clientv3.WithRequireLeader(try), "ready")
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the cluster is not ready: %w\n%s", err, c.Members[0].tail())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// learnIDs sets the IDs that the members have in the cluster.
func (c *Cluster) learnIDs(ctx context.Context) error {
	list, err := c.client.MemberList(ctx)
	if err != nil {
		return err
	}
	c.ids = map[string]uint64{}
	for _, m := range list.Members {
		c.ids[m.Name] = m.ID
	}
	return nil
}

// Leader waits until a majority of the members agrees on a leader, and returns
// it.
func (c *Cluster) Leader(ctx context.Context) (*Member, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		votes := map[uint64]int{}
		for _, m := range c.Members {
			if !m.Running() {
				continue
			}
			if status, err := m.Status(ctx); err == nil && status.Leader != 0 {
				votes[status.Leader]++
			}
		}
		for _, m := range c.Members {
			if id := c.ids[m.name]; id != 0 && votes[id] > len(c.Members)/2 && m.Running() {
				return m, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.New("there is no leader")
}

// Restart starts a member that is not running.
func (c *Cluster) Restart(m *Member) error {
	if err := m.run(c.Members); err != nil {
		return err
	}
	return m.until("it accepts connections", m.accepts)
}

// Replace wipes a member, removes it from the cluster, and adds it again as a new
// member with the same address.
func (c *Cluster) Replace(ctx context.Context, m *Member) error {
	m.Kill()
	if err := m.Wipe(); err != nil {
		return err
	}
	err := again(ctx, func(ctx context.Context) error {
		_, err := c.client.MemberRemove(ctx, c.ids[m.name])
		return err
	})
	if err != nil && !errors.Is(err, rpctypes.ErrMemberNotFound) {
		return fmt.Errorf("removing %s: %w", m.name, err)
	}
	err = again(ctx, func(ctx context.Context) error {
		added, err := c.client.MemberAdd(ctx, []string{m.peerURL()})
		if err == nil {
			c.ids[m.name] = added.Member.ID
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("adding %s: %w", m.name, err)
	}
	m.existing = true
	return c.Restart(m)
}

// again calls change until the cluster accepts that change of its members. It
// refuses one until they have been connected for some seconds.
func again(ctx context.Context, change func(context.Context) error) error {
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := change(try)
		cancel()
		if err == nil || errors.Is(err, rpctypes.ErrMemberNotFound) || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
	}
}

// Stop ends the servers in good order, and then kills the members.
func (c *Cluster) Stop() error {
	var errs []error
	ended := make(chan error)
	for _, s := range c.all {
		go func() { ended <- s.Stop() }()
	}
	for range c.all {
		errs = append(errs, <-ended)
	}
	for _, m := range c.Members {
		// Members that stop in good order take long once the majority is gone.
		m.Kill()
	}
	c.Kill()
	return errors.Join(errs...)
}

// Kill ends everything at once.
func (c *Cluster) Kill() {
	for _, s := range c.all {
		s.Kill()
	}
	for _, m := range c.Members {
		m.Kill()
	}
	if c.network != nil {
		c.network.close()
	}
	if c.client != nil {
		_ = c.client.Close()
	}
}

// Remove removes the cluster's folder.
func (c *Cluster) Remove() error { return os.RemoveAll(c.Dir) }
