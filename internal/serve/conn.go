package serve

import (
	"net"
	"time"
)

// conn is a connection without TLS. net/http sets a deadline for the response to each
// request and removes it afterwards, which costs 2 % of the instructions of a get. conn
// removes none, since another is set before the next response, and sets none that is less
// than a second later than the last. So a response may be cut off a second early, which
// needs a writeTimeout of many seconds.
type conn struct {
	*net.TCPConn
	deadline time.Time // for the response
}

// SetWriteDeadline implements [net.Conn]. Only one goroutine at a time may call it.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if later := t.Sub(c.deadline); t.IsZero() || later >= 0 && later < time.Second {
		return nil
	}
	c.deadline = t
	return c.TCPConn.SetWriteDeadline(t)
}
