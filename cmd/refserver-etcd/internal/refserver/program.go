// Package refserver is the reference server in front of a cluster. The command
// refserver-etcd and the trial cluster run it.
package refserver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// Name is the name of the command.
const Name = "refserver-etcd"

// Program returns the server with its command line.
func Program() *serve.Program {
	var c cluster
	return &serve.Program{
		Name:       Name,
		About:      "the petstore, kept in an etcd cluster, served over HTTP",
		StoreFlags: c.flags,
		Open:       c.open,
		Commands:   []flags.Command{importCommand()},
	}
}

func (c *cluster) open(ctx context.Context, log *slog.Logger, _ bool) (*serve.Store, error) {
	s, err := c.openStore(ctx, log)
	if err != nil {
		return nil, err
	}
	return &serve.Store{
		Service:    s,
		Messages:   s,
		Queue:      s,
		Statistics: s,
		Ready:      s.Ready,
		Endpoints:  func() any { return s.Endpoints() },
		Failed:     s.Failed(),
		Err:        s.Err,
		Close:      s.Close,
	}, nil
}

// cluster has the flags that say where the store is.
type cluster struct {
	endpoints    string
	prefix       string
	ca           string
	cert         string
	key          string
	user         string
	passwordFile string
	serializable bool
	newStore     bool
}

func (c *cluster) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.endpoints, "etcd", "http://127.0.0.1:2379", "client `URL,URL,...` of the cluster's members, all http or all https")
	fs.StringVar(&c.prefix, "etcd-prefix", etcdstore.DefaultPrefix, "`text` at the start of all keys of the store")
	flags.Var(fs, &c.newStore, "new-store", false, "make a store if the cluster has none under -etcd-prefix; no effect on one that exists", flags.Bool)
	fs.StringVar(&c.ca, "etcd-ca", "", "`file` with the certificates of the authorities (PEM) that sign the members'; empty: the system's")
	fs.StringVar(&c.cert, "etcd-cert", "", "`file` with the client's certificate (PEM); needs -etcd-key")
	fs.StringVar(&c.key, "etcd-key", "", "`file` with the private key of the client's certificate (PEM)")
	fs.StringVar(&c.user, "etcd-user", "", "`name:password` in the cluster; other users of the machine can read it on the command line, so prefer the environment variable or -etcd-password-file")
	fs.StringVar(&c.passwordFile, "etcd-password-file", "", "`file` with the password; -etcd-user is then only the name")
	flags.Var(fs, &c.serializable, "etcd-serializable", false, "let any member serve reads from its own state: they go on without a majority, and may be stale", flags.Bool)
}

func (c *cluster) openStore(ctx context.Context, log *slog.Logger) (*etcdstore.Store, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	config.Logger = log
	s, err := etcdstore.Open(ctx, config)
	if errors.Is(err, etcdstore.ErrNoStore) {
		err = fmt.Errorf("%w; with -new-store the program makes one", err)
	}
	if err != nil {
		return nil, fmt.Errorf("-etcd: %w", err)
	}
	return s, nil
}
