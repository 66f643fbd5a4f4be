package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// certificate is what -tls-cert and -tls-key name.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	version string // of the files when they were last read
	current *tls.Certificate
}

// get implements tls.Config.GetCertificate. It reads files that have changed, so a renewed
// certificate is used without a restart. If they cannot be read, the one before stays in
// use, and get returns an error only if there is none.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := ""
	for _, path := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			version += fmt.Sprint(info.Size(), info.ModTime(), " ")
		}
	}
	if c.current != nil && version == c.version {
		return c.current, nil
	}
	c.version = version
	switch cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile); {
	case err == nil:
		c.current = &cert
	case c.current == nil:
		return nil, err
	default:
		c.log.Error("the changed certificate cannot be used; the one before stays in use", "tls-cert", c.certFile, "tls-key", c.keyFile, "err", err)
	}
	return c.current, nil
}
