package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits on what a client can hold. A body of the largest size (1 MiB) must
// arrive at 35 kB/s, and the largest response (2 MiB) must be read at 35 kB/s.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // header and body
	writeTimeout      = 60 * time.Second // from the end of the header to the end of the response
	idleTimeout       = 2 * time.Minute  // between requests
	progressTimeout   = 10 * time.Second // without reading anything, over HTTP/2 or of a backup
	maxStreams        = 100              // at once on an HTTP/2 connection
	maxHeaderBytes    = 16 << 10
)

// Limits on connections leave descriptors for files. Without one the key file
// could not be read again, and no key could be revoked.
const (
	adminConnections = 16
	otherFiles       = 32
	leastFiles       = 64
)

// endpoint is an address that is served.
type endpoint struct {
	flag string // the flag with the address
	ln   *listener
	http http.Server
}

// listen opens the addresses, and sets all that does not depend on the store. A
// socket that systemd has passed takes the place of -addr.
func (s *server) listen(getenv func(string) string) error {
	if s.tlsCert != "" {
		if err := s.loadCertificate(); err != nil {
			return err
		}
	}
	files := maxFiles()
	if files < leastFiles {
		return fmt.Errorf("the limit on open files is %d; must be at least %d (ulimit -n)", files, leastFiles)
	}
	limit := files - adminConnections - otherFiles
	if s.messagesAddr != "" {
		limit /= 2
	}
	passed, err := passedListener(getenv)
	if err != nil {
		return err
	}
	for _, a := range []struct {
		flag, addr string
		limit      int
	}{
		{"addr", s.addr, limit},
		{"messages-addr", s.messagesAddr, limit},
		{"admin-addr", s.adminAddr, adminConnections},
	} {
		if a.addr == "" {
			continue
		}
		ln := passed
		if ln == nil || a.flag != "addr" {
			if ln, err = listenAt(a.addr); err != nil {
				return fmt.Errorf("-%s: %w; choose another address", a.flag, err)
			}
		}
		e := &endpoint{flag: a.flag, ln: newListener(ln, a.limit)}
		e.http = http.Server{
			ReadHeaderTimeout: readHeaderTimeout,
			ReadTimeout:       readTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
			ConnState:         e.ln.state,
		}
		s.endpoints = append(s.endpoints, e)
		if a.flag == "admin-addr" {
			s.admin = e // without a WriteTimeout, since profiles take long
			continue
		}
		s.public = append(s.public, e)
		e.http.WriteTimeout = writeTimeout
		e.http.HTTP2 = &http.HTTP2Config{WriteByteTimeout: progressTimeout, MaxConcurrentStreams: maxStreams}
		e.http.DisableGeneralOptionsHandler = true // the contract has no OPTIONS
		e.http.RegisterOnShutdown(e.ln.closeSilent)
		if s.tlsCert != "" {
			e.http.TLSConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.cert.Load(), nil }}
		}
	}
	return nil
}

// serve serves the endpoint until it is closed. Any other end is sent to ended.
func (e *endpoint) serve(ended chan<- error) {
	serve := e.http.Serve
	if e.http.TLSConfig != nil {
		serve = func(ln net.Listener) error { return e.http.ServeTLS(ln, "", "") }
	}
	if err := serve(e.ln); !errors.Is(err, http.ErrServerClosed) {
		ended <- fmt.Errorf("-%s: %w", e.flag, err)
	}
}

// url returns the URL of the endpoint's root, as a client on this machine may
// write it.
func (e *endpoint) url() string {
	scheme, host := "http://", e.ln.Addr().String()
	if e.http.TLSConfig != nil {
		scheme = "https://"
	}
	switch a := e.ln.Addr().(type) {
	case *net.TCPAddr:
		if a.IP.IsUnspecified() {
			host = fmt.Sprintf("localhost:%d", a.Port)
		}
	case *net.UnixAddr:
		host = "localhost"
	}
	return scheme + host
}

// socket returns the path of the endpoint's Unix domain socket, or "".
func (e *endpoint) socket() string {
	if a, ok := e.ln.Addr().(*net.UnixAddr); ok {
		return a.Name
	}
	return ""
}

// loadCertificate reads the certificate for new connections.
func (s *server) loadCertificate() error {
	cert, err := tls.LoadX509KeyPair(s.tlsCert, s.tlsKey)
	if err != nil {
		return fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	s.cert.Store(&cert)
	return nil
}

// reloadCertificate reads the certificate again. If that fails, the present one
// stays in use.
func (s *server) reloadCertificate() {
	if err := s.loadCertificate(); err != nil {
		s.log.Error("certificate not loaded; the present one stays in use", "err", err)
		return
	}
	s.log.Info("certificate loaded", "expires", s.cert.Load().Leaf.NotAfter)
}
