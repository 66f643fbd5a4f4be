package serve

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// lateness is how late a deadline may take effect. The server's timeouts are
// ten seconds and more.
const lateness = 500 * time.Millisecond

// socketConn is what a [net.TCPConn] and a [net.UnixConn] have in common. net/http
// calls CloseWrite, so that a client that still sends receives its response.
type socketConn interface {
	net.Conn
	CloseWrite() error
	SetWriteBuffer(bytes int) error
}

// lateConn is a connection whose deadlines take effect late. net/http sets five
// deadlines for each request, and each changes a timer of the runtime. Here it
// only stores them, and one timer compares them with the time.
type lateConn struct {
	socketConn
	read, write deadline
	timer       *time.Timer
	closed      atomic.Bool
}

func newLateConn(conn socketConn) *lateConn {
	c := &lateConn{socketConn: conn}
	c.read.set, c.write.set = conn.SetReadDeadline, conn.SetWriteDeadline
	c.timer = time.AfterFunc(time.Hour, c.enforce)
	c.timer.Reset(lateness)
	return c
}

func (c *lateConn) enforce() {
	now := time.Now()
	c.read.enforce(now)
	c.write.enforce(now)
	c.timer.Reset(lateness)
	if c.closed.Load() {
		c.timer.Stop()
	}
}

// Close implements [net.Conn].
func (c *lateConn) Close() error {
	c.closed.Store(true)
	c.timer.Stop()
	return c.socketConn.Close()
}

// SetDeadline implements [net.Conn].
func (c *lateConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements [net.Conn].
func (c *lateConn) SetReadDeadline(t time.Time) error { return c.read.change(t) }

// SetWriteDeadline implements [net.Conn].
func (c *lateConn) SetWriteDeadline(t time.Time) error { return c.write.change(t) }

// deadline is the deadline of reads or of writes.
type deadline struct {
	set func(time.Time) error // the connection's own method

	mu       sync.Mutex
	at       time.Time // zero: none
	enforced bool      // reads or writes fail now
}

// past is a deadline that has passed on any clock.
var past = time.Unix(1, 0)

// change makes t the deadline. net/http interrupts a read with a deadline that
// has long passed, which takes effect at once.
func (d *deadline) change(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = t
	if !t.IsZero() && t.Before(past.Add(time.Hour)) {
		d.enforced = true
		return d.set(t)
	}
	if d.enforced {
		d.enforced = false
		return d.set(time.Time{})
	}
	return nil
}

// enforce makes reads or writes fail if the deadline has passed.
func (d *deadline) enforce(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && !d.enforced && now.After(d.at) {
		d.enforced = true
		_ = d.set(past) // fails if the connection is closed
	}
}
