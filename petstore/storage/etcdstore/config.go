package etcdstore

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"google.golang.org/grpc"

	"example.com/animalstore/petstore"
)

// The defaults of [Config].
const (
	DefaultPrefix         = "petstore/"
	DefaultRequestTimeout = 5 * time.Second
)

// Config says where the cluster is and how to use it. Every field but
// Endpoints can be left zero.
type Config struct {
	// Endpoints are the client URLs of the members, such as
	// https://10.0.0.1:2379, all of them http or all https. The store sends its
	// requests to the first, and to the next if that does not respond. Name all
	// members, the nearest first, in a different order in each process.
	// Required.
	Endpoints []string

	// TLS returns the authority to trust and the client's certificate, for https
	// endpoints. The store calls it for every connection, so that it can return
	// new certificates. nil: the system's authorities and no certificate.
	TLS func() (*tls.Config, error)

	// Username is a user of etcd, who must be allowed to read and write the
	// prefix, and Password returns the password. The store calls it for every
	// authentication, so that it can return a new password. "" and nil: none.
	Username string
	Password func() (string, error)

	// Prefix starts every key of the store, so that other applications can use
	// the cluster too. It must not be the start of another store's prefix.
	// "": DefaultPrefix.
	Prefix string

	// NewStore makes a store if there is none under the prefix. All endpoints
	// must respond then. It has no effect on a store that exists. false: a
	// missing store is ErrNoStore.
	NewStore bool

	// RequestTimeout limits each call. A call that takes longer fails with
	// petstore.CodeUnavailable, even if its context allows more.
	// 0: DefaultRequestTimeout.
	RequestTimeout time.Duration

	// QueueCapacity is how many messages may be queued at once.
	// 0: petstore.DefaultQueueCapacity.
	QueueCapacity int

	// Committed is called after each commit, with the number of changes in it
	// and how long it took, repetitions included. The callers of the changes
	// wait for it. nil: it is not called.
	Committed func(changes int, took time.Duration)

	// Now returns the time, for Message.CreatedAt. How long outcomes are kept
	// does not depend on it. nil: time.Now.
	Now func() time.Time

	// Logger logs the opening, each change in the state of an endpoint, failed
	// cleanups, and that the store has failed. nil: nothing is logged.
	Logger *slog.Logger

	// For tests.
	onceKept  time.Duration               // 0: petstore.OnceKept
	intercept grpc.UnaryClientInterceptor // of all requests; nil: none
}

// withDefaults checks c and sets the defaults.
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
		c.TLS = func() (*tls.Config, error) { return &tls.Config{}, nil }
	}
	if (c.Username == "") != (c.Password == nil) {
		return c, errors.New("user and password: must be given together")
	}
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	c.QueueCapacity = cmp.Or(c.QueueCapacity, petstore.DefaultQueueCapacity)
	c.onceKept = cmp.Or(c.onceKept, petstore.OnceKept)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Committed == nil {
		c.Committed = func(int, time.Duration) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// attemptTimeout is how long to wait for one member before asking the next, when
// that much time is left. A member does not respond if it hangs, is cut off, or
// has forwarded the request to a leader that is gone. So the first attempts are
// short, and one of them soon follows the election of a new leader. The last one
// is long, for a cluster that is only slow.
func (c Config) attemptTimeout(left time.Duration) time.Duration {
	if left > c.RequestTimeout*4/10 {
		return c.RequestTimeout / 10
	}
	return left
}
