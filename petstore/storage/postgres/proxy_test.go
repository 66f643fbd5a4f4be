package postgres

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy stands between a store and the database. It can cut a connection, and
// counts the requests to cancel a statement.
type proxy struct {
	address, database string // of the proxy, of the database

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

// newProxy returns a proxy and the database's URL through it.
func newProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	p := &proxy{address: ln.Addr().String(), database: u.Host}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	u.Host = p.address
	return p, u.String()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.database)
	if err != nil {
		return
	}
	defer server.Close()
	began := false // the client has the response to BEGIN; guarded by p.mu
	go func() {
		defer client.Close()
		defer server.Close()
		p.copy(client, server, func(b []byte) bool {
			committed := bytes.Contains(b, []byte("COMMIT\x00"))
			begins := bytes.Contains(b, []byte("BEGIN\x00"))
			began = began && !committed || begins
			return p.cut == locked && begins || p.cut == unheard && committed
		})
	}()
	p.copy(server, client, func(b []byte) bool {
		if len(b) == 16 && binary.BigEndian.Uint32(b[4:]) == 80877102 { // CancelRequest
			p.cancels++
		}
		return p.cut == unsent && began
	})
}

// copy copies until drop returns true. drop is called with what was read, and is
// never called twice at the same time.
func (p *proxy) copy(to, from net.Conn, drop func([]byte) bool) {
	b := make([]byte, 1<<20)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		lost := drop(b[:n])
		if lost {
			if p.times--; p.times == 0 {
				p.cut = never
			}
		}
		p.mu.Unlock()
		if lost {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
