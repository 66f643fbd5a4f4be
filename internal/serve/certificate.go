package serve

import (
	"crypto/tls"
	"log/slog"
	"sync"
	"time"
)

// certificate is what -tls-cert and -tls-key name.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	current tls.Certificate
}

// get implements tls.Config.GetCertificate. It reads the files at most once a second, so a
// renewed certificate is used without a restart. If they cannot be used, as while they are
// replaced one after the other, the one before stays in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) > time.Second {
		c.looked = time.Now()
		cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
		if err == nil {
			c.current = cert
		} else if c.current.Leaf == nil {
			return nil, err
		} else {
			c.log.Warn("the certificate cannot be read; the one before stays in use", "tls-cert", c.certFile, "tls-key", c.keyFile, "err", err)
		}
	}
	cert := c.current
	return &cert, nil
}
