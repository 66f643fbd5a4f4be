package httpapi_test

import (
	"bufio"
	"net"
	"net/http"
	"testing"
)

// pipes is a listener for connections without a network. They have no buffers, so
// a client that does not read holds the server up at once. With synctest, its
// timeouts take no time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipes) Close() error { close(l.closed); return nil }

func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial returns the client's side of a new connection.
func (l pipes) dial(t testing.TB) connection {
	client, server := net.Pipe()
	l.conns <- server
	return connection{t, client, bufio.NewReader(client)}
}

// servePipes serves on pipes until stop is called.
func servePipes(srv *http.Server) (l pipes, stop func()) {
	l = pipes{make(chan net.Conn), make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return l, func() {
		_ = srv.Close()
		<-done
	}
}
