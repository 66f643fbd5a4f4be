package testserver

import (
	"context"
	"net"
)

// Pipes is a network in memory with one listener. In a bubble of package testing/synctest, whose
// clock is fake, waiting for it takes no time. Make it with make, without a buffer.
type Pipes chan net.Conn

// Dial connects to the listener. It ignores the address.
func (p Pipes) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// Accept implements [net.Listener].
func (p Pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Close implements [net.Listener].
func (p Pipes) Close() error { close(p); return nil }

// Addr implements [net.Listener].
func (p Pipes) Addr() net.Addr { return &net.TCPAddr{} }
