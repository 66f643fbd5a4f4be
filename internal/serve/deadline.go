package serve

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// socketConn is what a [net.TCPConn] and a [net.UnixConn] have in common. net/http
// calls CloseWrite, so that a client that still sends receives its response.
type socketConn interface {
	net.Conn
	CloseWrite() error
	SetWriteBuffer(bytes int) error
}

// lazyConn is a connection that moves its deadlines only when it must. net/http
// sets five deadlines for each request, most of them later than the one before,
// and each would change a timer of the runtime. Here an early deadline stays set.
// A read or a write that it ends sets the present one and goes on.
type lazyConn struct {
	socketConn
	read, write deadline
}

func newLazyConn(conn socketConn) *lazyConn {
	c := &lazyConn{socketConn: conn}
	c.read.move, c.write.move = conn.SetReadDeadline, conn.SetWriteDeadline
	return c
}

// Read implements [net.Conn].
func (c *lazyConn) Read(b []byte) (n int, err error) {
	for {
		n, err = c.socketConn.Read(b)
		if err == nil || !c.read.early(err) {
			return n, err
		}
	}
}

// Write implements [net.Conn].
func (c *lazyConn) Write(b []byte) (n int, err error) {
	for {
		var written int
		written, err = c.socketConn.Write(b[n:])
		n += written
		if err == nil || !c.write.early(err) {
			return n, err
		}
	}
}

// SetDeadline implements [net.Conn].
func (c *lazyConn) SetDeadline(t time.Time) error {
	return errors.Join(c.read.change(t), c.write.change(t))
}

// SetReadDeadline implements [net.Conn].
func (c *lazyConn) SetReadDeadline(t time.Time) error { return c.read.change(t) }

// SetWriteDeadline implements [net.Conn].
func (c *lazyConn) SetWriteDeadline(t time.Time) error { return c.write.change(t) }

// deadline is the deadline of reads or of writes.
type deadline struct {
	move func(time.Time) error // sets that of the socket

	mu     sync.Mutex
	at     time.Time // zero: none
	socket time.Time // that of the socket, which is never later; zero: none
}

// change makes t the deadline.
func (d *deadline) change(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = t
	if t.IsZero() || !d.socket.IsZero() && !t.Before(d.socket) {
		return nil
	}
	d.socket = t
	return d.move(t)
}

// early reports whether err is from a deadline of the socket before d.at. If so, it
// sets the present deadline.
func (d *deadline) early(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && !time.Now().Before(d.at) {
		return false
	}
	d.socket = d.at
	return d.move(d.at) == nil
}
