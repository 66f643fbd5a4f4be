package serve

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"sync"
)

// certificate is what -tls-cert and -tls-key name.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	files   []byte // what was read last
	current *tls.Certificate
}

// get implements tls.Config.GetCertificate. It reads the files for each handshake, so a
// renewed certificate is used without a restart. If they cannot be used, the one before
// stays in use, and get returns an error only if there is none.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	certPEM, err := os.ReadFile(c.certFile)
	keyPEM, err2 := os.ReadFile(c.keyFile)
	files := append(bytes.Clone(certPEM), keyPEM...)
	if c.current != nil && bytes.Equal(files, c.files) {
		return c.current, nil
	}
	c.files = files
	var cert tls.Certificate
	if err = errors.Join(err, err2); err == nil {
		cert, err = tls.X509KeyPair(certPEM, keyPEM)
	}
	switch {
	case err == nil:
		if c.current != nil {
			c.log.Info("certificate loaded", "tls-cert", c.certFile, "tls-key", c.keyFile)
		}
		c.current = &cert
	case c.current == nil:
		return nil, err
	default:
		c.log.Error("the changed certificate cannot be used; the one before stays in use", "tls-cert", c.certFile, "tls-key", c.keyFile, "err", err)
	}
	return c.current, nil
}
