package serve

import (
	"net"
	"time"
)

// conn is a connection without TLS, which ignores some write deadlines. net/http sets one for
// each response and removes it afterwards. That costs 2 % of the instructions of a get.
//
// conn does not remove a deadline: net/http sets another before it writes again. conn does
// not set a deadline that is less than a second later than the one that is set. So a
// response may be cut off a second early, of the many that writeTimeout allows.
type conn struct {
	*net.TCPConn
	deadline time.Time // for the response
}

// SetWriteDeadline implements [net.Conn]. Only one goroutine at a time may call it.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() { // removes the deadline
		return nil
	}
	later := t.Sub(c.deadline)
	if 0 <= later && later < time.Second {
		return nil
	}
	c.deadline = t
	return c.TCPConn.SetWriteDeadline(t)
}
