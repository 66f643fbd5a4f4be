package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// cluster has the flags that say where the store is.
type cluster struct {
	endpoints    string
	prefix       string
	ca           string
	cert         string
	key          string
	user         string
	passwordFile string
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
}

// open opens the store.
func (c *cluster) open(ctx context.Context, log *slog.Logger) (*etcdstore.Store, error) {
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

// config returns the configuration that the flags describe. The store reads the
// files again for every connection and authentication.
func (c *cluster) config() (etcdstore.Config, error) {
	config := etcdstore.Config{
		Endpoints: strings.Split(c.endpoints, ","),
		Prefix:    c.prefix,
		NewStore:  c.newStore,
	}
	if (c.cert == "") != (c.key == "") {
		return config, flags.Usagef("-etcd-cert and -etcd-key: must be given together")
	}
	if c.ca != "" || c.cert != "" {
		if !strings.HasPrefix(c.endpoints, "https:") {
			return config, flags.Usagef("-etcd-ca and -etcd-cert need https in -etcd")
		}
		config.TLS = c.tls
		if _, err := c.tls(); err != nil {
			return config, err
		}
	}
	name, password, both := strings.Cut(c.user, ":")
	config.Username = name
	switch {
	case c.passwordFile != "" && (name == "" || both):
		return config, flags.Usagef("-etcd-password-file needs -etcd-user with only the name")
	case c.passwordFile != "":
		config.Password = c.password
		_, err := c.password()
		return config, err
	case both:
		config.Password = func() (string, error) { return password, nil }
	case c.user != "":
		return config, flags.Usagef("-etcd-user: must be name:password, or a name together with -etcd-password-file")
	}
	return config, nil
}

func (c *cluster) tls() (*tls.Config, error) {
	config := &tls.Config{}
	if c.ca != "" {
		pem, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("-etcd-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("-etcd-ca: %s holds no certificate in PEM format", c.ca)
		}
	}
	if c.cert != "" {
		cert, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fmt.Errorf("-etcd-cert, -etcd-key: %w", err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}

func (c *cluster) password() (string, error) {
	b, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return "", fmt.Errorf("-etcd-password-file: %w", err)
	}
	password := strings.TrimRight(string(b), "\r\n")
	if password == "" {
		return "", errors.New("-etcd-password-file: must contain the password, but is empty")
	}
	return password, nil
}
