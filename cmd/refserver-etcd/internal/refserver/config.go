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

// config returns the configuration that the flags describe.
func (c *cluster) config() (etcdstore.Config, error) {
	config := etcdstore.Config{
		Endpoints:    strings.Split(c.endpoints, ","),
		Prefix:       c.prefix,
		Serializable: c.serializable,
	}
	var err error
	if config.TLS, err = c.tls(); err != nil {
		return config, err
	}
	config.Username, config.Password, err = c.credentials()
	return config, err
}

func (c *cluster) tls() (*tls.Config, error) {
	if (c.cert == "") != (c.key == "") {
		return nil, flags.Usagef("-etcd-cert and -etcd-key: must be given together")
	}
	if c.ca == "" && c.cert == "" {
		return nil, nil
	}
	if !strings.HasPrefix(c.endpoints, "https:") {
		return nil, flags.Usagef("-etcd-ca and -etcd-cert need https in -etcd")
	}
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

func (c *cluster) credentials() (name, password string, err error) {
	name, password, both := strings.Cut(c.user, ":")
	if c.passwordFile == "" {
		if c.user != "" && !both {
			return "", "", flags.Usagef("-etcd-user: must be name:password, or a name together with -etcd-password-file")
		}
		return name, password, nil
	}
	if name == "" || both {
		return "", "", flags.Usagef("-etcd-password-file needs -etcd-user with only the name")
	}
	b, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return "", "", fmt.Errorf("-etcd-password-file: %w", err)
	}
	password = strings.TrimRight(string(b), "\r\n")
	if password == "" {
		return "", "", errors.New("-etcd-password-file: must contain the password, but is empty")
	}
	return name, password, nil
}
