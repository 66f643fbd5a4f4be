package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// cutter makes connections to the database that it can cut, and counts the requests to
// cancel a statement.
type cutter struct {
	mu      sync.Mutex
	cut     cut // of the next transactions
	times   int // how many
	cancels int
}

// cut is where to cut a connection.
type cut int

const (
	never   cut = iota
	locked      // the response to BEGIN and the reads after it is lost
	unsent      // the request with COMMIT is lost
	unheard     // the response to COMMIT is lost
)

// cutNext cuts the next transactions. Those of the call before must have been cut.
func (c *cutter) cutNext(t *testing.T, where cut, times int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times != 0 {
		t.Errorf("%d cuts were not made", c.times)
	}
	if c.times = times; times > 0 {
		c.cut = where
	}
}

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &cutConn{Conn: conn, cutter: c}, err
}

type cutConn struct {
	net.Conn
	*cutter
	began bool // the response to BEGIN was read
}

// lost cuts the connection if now is true, and returns that.
func (c *cutConn) lost(now bool) bool {
	if now {
		_ = c.Close()
		if c.times--; c.times == 0 {
			c.cut = never
		}
	}
	return now
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	begins, committed := bytes.Contains(b[:n], []byte("BEGIN\x00")), bytes.Contains(b[:n], []byte("COMMIT\x00"))
	c.began = c.began && !committed || begins
	if c.lost(c.cut == locked && begins || c.cut == unheard && committed) {
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) == 16 && binary.BigEndian.Uint32(b[4:]) == 80877102 { // CancelRequest
		c.cancels++
	}
	if c.lost(c.cut == unsent && c.began) {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
