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

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// cluster has the flags that say where the store is.
type cluster struct {
	config       etcdstore.Config // with what is not in the other fields
	endpoints    string
	ca           string
	cert         string
	key          string
	passwordFile string
}

func (c *cluster) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.endpoints, "etcd", "http://127.0.0.1:2379", "client `URL,URL,...` of the cluster's members, all http or all https")
	fs.StringVar(&c.config.Prefix, "etcd-prefix", etcdstore.DefaultPrefix, "`text` at the start of all keys of the store")
	flags.Var(fs, &c.config.NewStore, "new-store", false, "make a store if the cluster has none under -etcd-prefix; no effect on one that exists", flags.Bool)
	fs.StringVar(&c.ca, "etcd-ca", "", "`file` with the certificates of the authorities (PEM) that sign the members'; empty: the system's")
	fs.StringVar(&c.cert, "etcd-cert", "", "`file` with the client's certificate (PEM); needs -etcd-key")
	fs.StringVar(&c.key, "etcd-key", "", "`file` with the private key of the client's certificate (PEM)")
	fs.StringVar(&c.config.Username, "etcd-user", "", "`name` of a user of the cluster; needs -etcd-password-file")
	fs.StringVar(&c.passwordFile, "etcd-password-file", "", "`file` with the password of the user")
}

// open opens the store. The store reads the files again for every connection and
// authentication.
func (c *cluster) open(ctx context.Context, log *slog.Logger) (*etcdstore.Store, error) {
	config := c.config
	config.Endpoints, config.Logger = strings.Split(c.endpoints, ","), log
	if (c.cert == "") != (c.key == "") {
		return nil, flags.Usagef("-etcd-cert and -etcd-key: must be given together")
	}
	if c.ca != "" || c.cert != "" {
		config.TLS = c.tls
		if _, err := c.tls(); err != nil {
			return nil, err
		}
	}
	if c.passwordFile != "" {
		config.Password = c.password
		if _, err := c.password(); err != nil {
			return nil, err
		}
	}
	s, err := etcdstore.Open(ctx, config)
	if errors.Is(err, etcdstore.ErrNoStore) {
		err = fmt.Errorf("%w; with -new-store the program makes one", err)
	}
	if err != nil {
		return nil, fmt.Errorf("-etcd: %w", err)
	}
	return s, nil
}

func (c *cluster) tls() (*tls.Config, error) {
	config, err := transport.TLSInfo{TrustedCAFile: c.ca, CertFile: c.cert, KeyFile: c.key}.ClientConfig()
	if err == nil && c.ca != "" && config.RootCAs.Equal(x509.NewCertPool()) {
		err = fmt.Errorf("%s holds no certificate in PEM format", c.ca)
	}
	if err != nil {
		return nil, fmt.Errorf("-etcd-ca, -etcd-cert, -etcd-key: %w", err)
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
