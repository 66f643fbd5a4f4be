package serve

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// sweepInterval is how late a deadline may be enforced. Against timeouts of
// ten seconds and more that is nothing.
const sweepInterval = 500 * time.Millisecond

// writeBuffer is how many bytes of a response the system takes from us before
// the client has read any. By default it takes megabytes for each client, which
// no limit of ours counts, and asks for more only after a third was read, which
// a slow client may not do within progressTimeout.
const writeBuffer = 128 << 10

// deadlineListener makes deadlines cheap. A server with timeouts sets four a
// request, each of which goes to the runtime's timers: a twentieth of what a
// small response costs. Here they are written down, and one goroutine looks
// every half second for those that have passed.
//
// It also limits how many connections there are at once. Further ones wait in
// the system's queue until one is closed.
type deadlineListener struct {
	*net.TCPListener
	limit int // 0: none

	mu       sync.Mutex
	room     sync.Cond // signaled when a connection or the listener is closed
	closed   bool
	conns    map[*deadlineConn]struct{}
	sweeping bool
	closing  bool // see closeSilent
}

func newDeadlineListener(ln *net.TCPListener) *deadlineListener {
	l := &deadlineListener{TCPListener: ln, conns: make(map[*deadlineConn]struct{})}
	l.room.L = &l.mu
	return l
}

// Accept implements net.Listener.
func (l *deadlineListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	for l.limit > 0 && len(l.conns) >= l.limit && !l.closed {
		l.room.Wait()
	}
	l.mu.Unlock()
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	_ = tcp.SetWriteBuffer(writeBuffer)
	c := &deadlineConn{TCPConn: tcp, listener: l}
	c.read.set, c.write.set = tcp.SetReadDeadline, tcp.SetWriteDeadline
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	if l.closing {
		_ = tcp.Close()
	}
	if !l.sweeping {
		l.sweeping = true
		go l.sweep()
	}
	return c, nil
}

// Close implements net.Listener.
func (l *deadlineListener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.room.Signal()
	return l.TCPListener.Close()
}

// closeSilent closes the connections that have brought no request, and those
// still to be accepted. It is for a server that is shutting down: net/http
// answers no request then whose header it has not read before, and yet waits
// five seconds for a connection that is new.
func (l *deadlineListener) closeSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	for c := range l.conns {
		if !c.requested.Load() {
			_ = c.TCPConn.Close() // net/http closes c when it sees
		}
	}
}

func (l *deadlineListener) forget(c *deadlineConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.room.Signal()
}

// sweep enforces the deadlines that have passed, as long as there are
// connections.
func (l *deadlineListener) sweep() {
	for {
		time.Sleep(sweepInterval)
		now := time.Now()
		l.mu.Lock()
		for c := range l.conns {
			c.read.enforce(now)
			c.write.enforce(now)
		}
		if len(l.conns) == 0 {
			l.sweeping = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// deadlineConn is a connection whose deadlines are enforced late. It stays a
// *net.TCPConn for all else, such as half-closing.
type deadlineConn struct {
	*net.TCPConn
	listener    *deadlineListener
	read, write deadline
	requested   atomic.Bool // the header of a request has been read
}

// SetDeadline implements net.Conn.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *deadlineConn) SetReadDeadline(t time.Time) error { return c.read.change(t) }

// SetWriteDeadline implements net.Conn.
func (c *deadlineConn) SetWriteDeadline(t time.Time) error { return c.write.change(t) }

// Close implements net.Conn.
func (c *deadlineConn) Close() error {
	c.listener.forget(c)
	return c.TCPConn.Close()
}

// deadline is one of a connection's two.
type deadline struct {
	set func(time.Time) error // the connection's own

	mu       sync.Mutex
	at       time.Time // zero: none
	enforced bool      // the connection has been given one that has passed
}

// past is a deadline that has passed, whatever the clock says.
var past = time.Unix(1, 0)

// change makes t the deadline. One that has passed already is what net/http
// interrupts a read with: that cannot wait.
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

// enforce gives the connection a deadline that has passed, if d has.
func (d *deadline) enforce(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || d.enforced || now.Before(d.at) {
		return
	}
	d.enforced = true
	_ = d.set(past) // fails for a connection that is closed already
}
