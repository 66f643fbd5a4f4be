package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/internal/loglimit"
)

// Limits on what a client can hold. A body of the largest size (64 KiB) must
// arrive at 4 kB/s, and the largest response (192 KiB) must be read at 7 kB/s.
const (
	readTimeout    = 20 * time.Second // header and body
	writeTimeout   = 30 * time.Second // from the end of the header to the end of the response
	idleTimeout    = 2 * time.Minute  // between requests
	maxHeaderBytes = 12 << 10         // net/http adds 4 KiB

	// writeBuffer is how many bytes of a response the system accepts before the
	// client has read any. By default it accepts megabytes for each client.
	writeBuffer = 128 << 10

	// adminConnections is how many connections the admin address has. Further ones wait.
	adminConnections = 16

	// otherDescriptors is how many file descriptors are kept for all but clients: the admin
	// address, the store, keys, backups.
	otherDescriptors = 100
)

// endpoint is an address that is served, and its listener.
type endpoint struct {
	net.Listener
	flag   string        // the flag with the address
	open   atomic.Int64  // connections
	slots  chan struct{} // holds one for each, and one for that which is accepted next; endpoints may share it
	closed chan struct{} // is closed with the listener
	http   http.Server   // with a TLSConfig: HTTPS
}

// maxConnections returns how many clients may be connected, so that descriptors are left.
func maxConnections() int {
	limit := 1 << 20 // on other systems than Linux
	text, _ := os.ReadFile("/proc/self/limits")
	_, after, _ := strings.Cut(string(text), "Max open files")
	_, _ = fmt.Sscan(after, &limit) // the soft limit comes first
	return max(limit/2, limit-otherDescriptors)
}

// httpLog logs what net/http reports, most of which clients cause. It does not log that a
// client has closed its connection, as health checks do before a TLS handshake.
type httpLog struct {
	log   *slog.Logger
	limit loglimit.Limit
}

// Write logs a line.
func (l *httpLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	ended := strings.HasSuffix(text, ": EOF") || strings.HasSuffix(text, ": connection reset by peer")
	if !ended && l.limit.Allow() {
		l.log.Warn(text)
	}
	return len(line), nil
}

// listen opens the address in a flag. config is nil without TLS.
func (s *server) listen(flag, addr string, config *tls.Config, slots chan struct{}) (*endpoint, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w; choose another address", flag, err)
	}
	e := &endpoint{Listener: ln, flag: flag, slots: slots, closed: make(chan struct{})}
	// All limits count connections. One of HTTP/2 would carry 250 requests at a time.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	e.http = http.Server{
		Protocols:      protocols,
		TLSConfig:      config,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,

		DisableGeneralOptionsHandler: true, // the contract has no OPTIONS

		ErrorLog: log.New(&httpLog{log: s.log}, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				e.open.Add(1)
			case http.StateClosed: // none is hijacked
				e.open.Add(-1)
				<-e.slots
			}
		},
	}
	s.endpoints = append(s.endpoints, e)
	return e, nil
}

// Accept implements [net.Listener]. At the limit of connections it waits until one of them, or
// the listener, is closed.
func (e *endpoint) Accept() (net.Conn, error) {
	select {
	case e.slots <- struct{}{}:
	case <-e.closed:
		return nil, net.ErrClosed
	}
	c, err := e.Listener.Accept()
	if err != nil {
		<-e.slots
		return nil, err
	}
	_ = c.(*net.TCPConn).SetWriteBuffer(writeBuffer)
	return c, nil
}

// Close implements [net.Listener].
func (e *endpoint) Close() error {
	close(e.closed) // net/http closes once
	return e.Listener.Close()
}

// listenAll opens the addresses, and sets all that does not depend on the store.
func (s *server) listenAll() (err error) {
	var config *tls.Config
	if s.tlsCert != "" {
		s.certificate = &certificate{certFile: s.tlsCert, keyFile: s.tlsKey}
		if err := s.certificate.load(); err != nil {
			return fmt.Errorf("-tls-cert, -tls-key: %w", err)
		}
		config = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.certificate.current.Load(), nil
		}}
	}
	clients := make(chan struct{}, maxConnections())
	if s.pets, err = s.listen("addr", s.addr, config, clients); err == nil && s.messagesAddr != "" {
		s.messages, err = s.listen("messages-addr", s.messagesAddr, config, clients)
	}
	if err == nil && s.adminAddr != "" {
		s.admin, err = s.listen("admin-addr", s.adminAddr, nil, make(chan struct{}, adminConnections))
	}
	return err
}

// serve serves the endpoint until it is closed. Any other end is sent to ended.
func (e *endpoint) serve(ended chan<- error) {
	var err error
	if e.http.TLSConfig != nil {
		err = e.http.ServeTLS(e, "", "")
	} else {
		err = e.http.Serve(e)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		ended <- fmt.Errorf("-%s: %w", e.flag, err)
	}
}

// loopback reports whether only this machine can reach the endpoint.
func (e *endpoint) loopback() bool { return e.Addr().(*net.TCPAddr).IP.IsLoopback() }

// url returns the URL of the endpoint's root, as a client on this machine may
// write it.
func (e *endpoint) url() string {
	addr := e.Addr().(*net.TCPAddr)
	host := addr.String()
	if addr.IP.IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", addr.Port)
	}
	if e.http.TLSConfig != nil {
		return "https://" + host
	}
	return "http://" + host
}
