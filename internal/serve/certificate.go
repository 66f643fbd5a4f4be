package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// certificate is the certificate of -tls-cert and -tls-key. When the files have changed, it
// is read again, so a renewed one is used without a restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	version string // of the files when they were last read
	current *tls.Certificate
}

// read reads the files.
func (c *certificate) read() error {
	c.version = c.newest()
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.current = &cert
	}
	return err
}

// newest returns the version of the files that are there now.
func (c *certificate) newest() (version string) {
	for _, path := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			version += fmt.Sprint(info.Size(), info.ModTime(), " ")
		}
	}
	return version
}

// get implements tls.Config.GetCertificate. Files that have changed and cannot be read
// leave the certificate before in use. It may be so between the change of one file and
// that of the other.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != c.newest() {
		if err := c.read(); err != nil {
			c.log.Error("the changed certificate cannot be used; the one before stays in use", "tls-cert", c.certFile, "tls-key", c.keyFile, "err", err)
		} else {
			c.log.Info("certificate loaded", "tls-cert", c.certFile, "expires", c.current.Leaf.NotAfter)
		}
	}
	return c.current, nil
}
