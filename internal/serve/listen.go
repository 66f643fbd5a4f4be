package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"example.com/animalstore/petstore/httpapi"
)

// Limits on what a client can hold. A body of the largest size (1 MiB) must
// arrive at 35 kB/s, and the largest response (2 MiB) must be read at 35 kB/s.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // header and body
	writeTimeout      = 60 * time.Second // from the end of the header to the end of the response
	idleTimeout       = 2 * time.Minute  // between requests
	progressTimeout   = 10 * time.Second // for an HTTP/2 client that reads nothing at all
	maxStreams        = 100              // at once on an HTTP/2 connection
	maxHeaderBytes    = 16 << 10
)

// endpoint is an address that is served.
type endpoint struct {
	flag string // that gave the address
	ln   *deadlineListener
	http http.Server
}

// listen opens the addresses, before anything else is touched.
func (s *server) listen() error {
	c := s.config
	var tlsConfig *tls.Config
	if c.tlsCert != "" {
		if err := s.loadCertificate(); err != nil {
			return err
		}
		tlsConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.cert.Load(), nil }}
	}
	for _, a := range []struct{ flag, addr string }{{"addr", c.addr}, {"messages-addr", c.messagesAddr}} {
		if a.addr == "" {
			continue
		}
		e, err := newEndpoint(a.flag, a.addr)
		if err != nil {
			return err
		}
		e.http.TLSConfig = tlsConfig
		s.public = append(s.public, e)
	}
	if c.adminAddr != "" {
		var err error
		if s.admin, err = newEndpoint("admin-addr", c.adminAddr); err != nil {
			return err
		}
	}
	return s.limitConnections()
}

// limitConnections limits connections so that descriptors remain for files.
// Without one the key file could not be read again, and no key could be
// revoked.
func (s *server) limitConnections() error {
	const admin, other, least = 16, 32, 64
	files := maxFiles()
	switch {
	case files == 0:
		return nil
	case files < least:
		return fmt.Errorf("the limit on open files is %d; it must be at least %d (ulimit -n)", files, least)
	}
	if s.admin != nil {
		s.admin.ln.limit = admin
	}
	for _, e := range s.public {
		e.ln.limit = max(1, (files-admin-other)/len(s.public))
	}
	return nil
}

func (s *server) loadCertificate() error {
	cert, err := tls.LoadX509KeyPair(s.config.tlsCert, s.config.tlsKey)
	if err != nil {
		return fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	s.cert.Store(&cert)
	return nil
}

// reloadCertificate reads the certificate again, for new connections.
func (s *server) reloadCertificate() {
	if err := s.loadCertificate(); err != nil {
		s.log.Error("the certificate was not loaded; the old one stays in use", "err", err)
		return
	}
	s.log.Info("certificate loaded", "expires", s.cert.Load().Leaf.NotAfter)
}

func newEndpoint(flag, addr string) (*endpoint, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w; choose another address", flag, err)
	}
	return &endpoint{flag: flag, ln: newDeadlineListener(ln.(*net.TCPListener))}, nil
}

// endpoints are all there are.
func (s *server) endpoints() []*endpoint {
	if s.admin == nil {
		return s.public
	}
	return append(s.public[:len(s.public):len(s.public)], s.admin)
}

func (s *server) closeListeners() {
	for _, e := range s.endpoints() {
		_ = e.ln.Close()
	}
}

// start has every address served.
func (s *server) start() {
	keepHeapFloor()
	for i, h := range s.handlers() {
		srv := &s.public[i].http
		srv.Handler = h
		srv.WriteTimeout = writeTimeout
		srv.HTTP2 = &http.HTTP2Config{WriteByteTimeout: progressTimeout, MaxConcurrentStreams: maxStreams}
		srv.ConnState = s.counters.connection
		srv.RegisterOnShutdown(s.public[i].ln.closeSilent)
		srv.DisableGeneralOptionsHandler = true // OPTIONS * is answered as the other methods are
		if s.config.accessLog {
			srv.ConnContext = withRemote
		}
	}
	attrs := []any{"url", s.url(s.public[0])}
	if len(s.public) > 1 {
		attrs = append(attrs, "messages", s.url(s.public[1])+"/messages")
	}
	if s.admin != nil {
		s.startAdmin()
		attrs = append(attrs, "admin", "http://"+hostOf(s.admin.ln.Addr()))
	}
	s.log.Info("serving", append(attrs, s.about()...)...)
	for _, e := range s.endpoints() {
		e.http.ReadHeaderTimeout = readHeaderTimeout
		e.http.ReadTimeout = readTimeout
		e.http.IdleTimeout = idleTimeout
		e.http.MaxHeaderBytes = maxHeaderBytes
		e.http.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)
		go func() {
			if err := e.serve(); !errors.Is(err, http.ErrServerClosed) {
				s.ended <- fmt.Errorf("-%s: %w", e.flag, err)
			}
		}()
	}
}

func (e *endpoint) serve() error {
	if e.http.TLSConfig != nil {
		return e.http.ServeTLS(e.ln, "", "")
	}
	return e.http.Serve(e.ln)
}

// startAdmin sets the admin address up. Its answers may take long: profiles
// do.
func (s *server) startAdmin() {
	a := s.admin.ln.Addr().(*net.TCPAddr)
	if !a.IP.IsLoopback() {
		s.log.Warn("the admin address asks for no key and is open to other machines; keep them out", "admin-addr", a.String())
	}
	name, _, _ := net.SplitHostPort(s.config.adminAddr)
	s.admin.http.Handler = noWebPages(admin(s.store, &s.counters, time.Now()), a.IP.IsLoopback(), name)
}

// handlers returns the handler of each public address.
func (s *server) handlers() []http.Handler {
	c := s.config
	opts := &httpapi.Options{
		Encoded:    s.store.Encoded,
		Logger:     slog.New(untilFailed{s.log.Handler(), s.store.Failed}),
		Observe:    s.observer(),
		SunsetGone: c.sunset.value == "gone",
	}
	rt := router{
		base:     string(c.basePath),
		pets:     httpapi.New(s.store.Service, s.keys, opts),
		messages: httpapi.NewMessages(s.store.Messages, s.keys, opts),
		ready:    s.store.Ready,
		draining: &s.draining,
		observe:  s.observer(),
	}
	if len(s.public) == 1 {
		return []http.Handler{&rt}
	}
	pets, messages := rt, rt
	pets.messages, messages.pets = nil, nil
	return []http.Handler{&pets, &messages}
}

// url returns the base URL of a public address, as a client on this machine
// may write it.
func (s *server) url(e *endpoint) string {
	scheme := "http"
	if e.http.TLSConfig != nil {
		scheme = "https"
	}
	return scheme + "://" + hostOf(e.ln.Addr()) + string(s.config.basePath)
}

func hostOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return a.String()
}
