package serve

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// writeBuffer is how many bytes of a response the system accepts before the
// client has read any. By default it accepts megabytes for each client, which
// no limit of ours counts. It also accepts more only after a third was read,
// which a slow client may not do within progressTimeout.
const writeBuffer = 128 << 10

// listener is the listener of an address, and knows its connections. Its method
// state must be the ConnState hook of the [http.Server]. It is safe for
// concurrent use.
type listener struct {
	net.Listener               // of socketConns
	slots        chan struct{} // one for each connection
	open         atomic.Int64
	silent       sync.Map    // the open connections (net.Conn) that have sent no request
	draining     atomic.Bool // see closeSilent
}

// newListener returns a listener with at most limit connections at once.
// Further ones wait in the system's queue until one is closed.
func newListener(ln net.Listener, limit int) *listener {
	return &listener{Listener: ln, slots: make(chan struct{}, limit)}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.release()
		return nil, err
	}
	sock := conn.(socketConn)
	_ = sock.SetWriteBuffer(writeBuffer)
	return newLateConn(sock), nil
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.release() // for an Accept that waits, which then fails
	return err
}

func (l *listener) release() {
	select {
	case <-l.slots:
	default:
	}
}

// state follows the connections.
func (l *listener) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		l.open.Add(1)
		l.silent.Store(conn, nil)
		if l.draining.Load() {
			_ = conn.Close()
		}
	case http.StateActive:
		l.silent.Delete(conn)
	case http.StateClosed, http.StateHijacked:
		l.silent.Delete(conn)
		l.open.Add(-1)
		l.release()
	}
}

// closeSilent closes the connections that have sent no request, and from now on
// every new one. A server that is shutting down reads no further requests, but
// net/http waits five seconds for a new connection.
func (l *listener) closeSilent() {
	l.draining.Store(true)
	for conn := range l.silent.Range {
		_ = conn.(net.Conn).Close()
	}
}
