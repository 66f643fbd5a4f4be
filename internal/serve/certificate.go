package serve

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"example.com/animalstore/internal/files"
)

// certificate is what -tls-cert and -tls-key name.
type certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// load reads the files. If they cannot be used, the certificate before stays in use.
func (c *certificate) load() error {
	if err := errors.Join(files.CheckRegular(c.certFile), files.CheckRegular(c.keyFile)); err != nil {
		return err
	}
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.current.Store(&cert)
	}
	return err
}

// watch loads the files once a second, so a renewed certificate is used without a restart, and
// no handshake waits for a disk. It logs the first of several failures. A look between the
// replacements of the two files fails.
func (c *certificate) watch(log *slog.Logger) {
	failed := false
	for range time.Tick(time.Second) {
		err := c.load()
		if err != nil && !failed {
			log.Warn("the certificate cannot be read; the one before stays in use", "tls-cert", c.certFile, "tls-key", c.keyFile, "err", err)
		}
		failed = err != nil
	}
}
