package refserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// config returns the configuration that the flags describe. The store reads the
// files again for every connection and authentication.
func (c *cluster) config() (etcdstore.Config, error) {
	config := etcdstore.Config{
		Endpoints:    strings.Split(c.endpoints, ","),
		Prefix:       c.prefix,
		NewStore:     c.newStore,
		Serializable: c.serializable,
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
