package etcdstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"example.com/animalstore/petstore"
)

// The settings that [Config] has where it does not say otherwise.
const (
	DefaultPrefix         = "petstore/"
	DefaultRequestTimeout = 5 * time.Second
)

// Config says where the cluster is and how to use it. Every field but
// Endpoints can be left zero.
type Config struct {
	// Endpoints are the client URLs of the members, such as
	// https://10.0.0.1:2379, all of them http or all https. The first is asked;
	// one that does not answer makes way for the next. Name all of them, in
	// another order in each process, the nearest first. Required.
	Endpoints []string

	// TLS is used for https endpoints: the authority to trust, the client's
	// certificate. nil: the system's authorities and no certificate.
	TLS *tls.Config

	// Username and Password are those of etcd's own authentication. "": none.
	// The user needs the role to read and write the prefix.
	Username, Password string

	// Prefix starts every key of the store, so that others can share the
	// cluster. "": DefaultPrefix. One prefix must not start with another.
	Prefix string

	// RequestTimeout bounds each call, whatever happens to the cluster: a call
	// whose context allows more ends with petstore.CodeUnavailable then.
	// 0: DefaultRequestTimeout.
	RequestTimeout time.Duration

	// Serializable has reads answered by whatever member is asked from what it
	// has, without a majority. They go on where there is none, cost less, and
	// may be stale: a member that is cut off, or slow, shows the pets as
	// they were, so that a client may not find what it has just added, and may
	// see it vanish again when another member is asked. Creations are not
	// affected. false: reads are linearizable.
	Serializable bool

	// QueueCapacity is how many messages may be queued at once.
	// 0: petstore.DefaultQueueCapacity.
	QueueCapacity int

	// Now tells the time, for Message.CreatedAt and for how long outcomes are
	// remembered; the clocks of all machines should agree to the second.
	// nil: time.Now.
	Now func() time.Time

	// Logger is told when the cluster stops answering and when it answers
	// again. nil: nobody is.
	Logger *slog.Logger
}

// withDefaults checks c and fills in what it leaves open.
func (c Config) withDefaults() (Config, error) {
	if len(c.Endpoints) == 0 {
		return c, errors.New("no endpoints")
	}
	scheme := ""
	for _, e := range c.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "" || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "" {
			return c, fmt.Errorf("endpoint %q: must be a URL such as http://127.0.0.1:2379", e)
		}
		if scheme != "" && u.Scheme != scheme {
			return c, errors.New("endpoints: all must be http or all https")
		}
		scheme = u.Scheme
	}
	if scheme == "http" && c.TLS != nil {
		return c, errors.New("endpoints: certificates need https")
	}
	if scheme == "https" && c.TLS == nil {
		c.TLS = &tls.Config{}
	}
	if (c.Username == "") != (c.Password == "") {
		return c, errors.New("a user name and a password need each other")
	}
	if c.RequestTimeout < 0 || c.QueueCapacity < 0 {
		return c, errors.New("a negative timeout or capacity")
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.QueueCapacity == 0 {
		c.QueueCapacity = petstore.DefaultQueueCapacity
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// attemptTimeout is how long one member is waited for before the next is asked,
// when that much time is left. A member that is paused or cut off says nothing
// at all, and neither does one that has passed a request on to a leader that is
// no more: the attempts are short, so that the first one after an election is
// soon. The last one is long, for a cluster that is merely slow.
func (c Config) attemptTimeout(left time.Duration) time.Duration {
	if left > c.RequestTimeout*4/10 {
		return c.RequestTimeout / 10
	}
	return left
}

// client returns a client of one member. It gives up a connection that stays
// silent.
func (c Config) client(endpoint string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints:            []string{endpoint},
		TLS:                  c.TLS,
		Username:             c.Username,
		Password:             c.Password,
		DialTimeout:          c.RequestTimeout / 10, // of what a user needs
		DialKeepAliveTime:    10 * time.Second,      // the least that gRPC takes
		DialKeepAliveTimeout: 2 * time.Second,
		MaxCallSendMsgSize:   2 << 20,
		Logger:               zap.NewNop(), // what matters is told through ours
		// gRPC would wait for minutes before it looks for a member again that
		// was away for long.
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		})},
	})
}
