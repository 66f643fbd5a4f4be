package serve

import (
	"net"
	"sync/atomic"
	"time"
)

// conn is a connection of a client. net/http sets a deadline for the response to each
// request and removes it afterwards, which costs 2 % of the instructions of a get. conn
// removes none, since another is set before the next response, and sets only one that is a
// second later than the last. So a response may be cut off a second early, which needs a
// writeTimeout of many seconds.
type conn struct {
	*net.TCPConn
	deadline atomic.Int64 // for the response, in nanoseconds since 1970
}

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	later := time.Duration(t.UnixNano() - c.deadline.Load())
	if later >= 0 && later < time.Second {
		return nil
	}
	c.deadline.Store(t.UnixNano())
	return c.TCPConn.SetWriteDeadline(t)
}
