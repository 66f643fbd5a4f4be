package local

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// proxy passes connections of other members on to a member. It can cut some of
// them: then it passes on neither requests nor responses, and the connections
// stay open, as if the network had been cut.
//
// It knows a connection's sender from the header field X-Server-From, which
// members send in every request to another member.
type proxy struct {
	addr, to string
	ln       net.Listener

	mu    sync.Mutex
	cut   map[string]bool // by member ID; "": all members
	conns map[*link]struct{}
}

// link is a connection through a proxy.
type link struct {
	from, to net.Conn
	sender   string // member ID; "": not known yet
}

func newProxy(to string) (*proxy, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: addr, to: to, ln: ln, cut: map[string]bool{}, conns: map[*link]struct{}{}}
	go p.accept()
	return p, nil
}

func (p *proxy) accept() {
	for {
		conn, err := p.ln.Accept()
		if err != nil {
			return
		}
		go p.serve(conn)
	}
}

func (p *proxy) close() {
	_ = p.ln.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.conns {
		l.close()
	}
}

func (l *link) close() {
	_ = l.from.Close()
	_ = l.to.Close()
}

// setCut cuts the connections of a sender, or restores them. "": of all senders.
func (p *proxy) setCut(sender string, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cut {
		p.cut[sender] = true
		return
	}
	delete(p.cut, sender)
	// Close the connections, because bytes of them were dropped.
	for l := range p.conns {
		if sender == "" || l.sender == sender {
			l.close()
		}
	}
}

// silent reports whether l is cut.
func (p *proxy) silent(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut[""] || l.sender != "" && p.cut[l.sender]
}

func (p *proxy) serve(from net.Conn) {
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = from.Close()
		return
	}
	l := &link{from: from, to: to}
	p.mu.Lock()
	p.conns[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		l.close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, l)
	}()
	back := make(chan struct{})
	go func() {
		defer close(back)
		p.pass(l, to, from)
		l.close()
	}()
	p.pass(l, from, to)
	l.close()
	<-back
}

// pass copies from src to dst, and drops what arrives while l is cut.
func (p *proxy) pass(l *link, src, dst net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := src.Read(b)
		if n > 0 {
			if src == l.from {
				p.learn(l, b[:n])
			}
			if p.silent(l) {
				p.hold(l) // bytes were dropped, so nothing may follow them
				return
			}
			if _, err := dst.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hold keeps a cut connection open until it is no longer cut.
func (p *proxy) hold(l *link) {
	for p.silent(l) {
		time.Sleep(20 * time.Millisecond)
		if _, err := l.from.Write(nil); err != nil {
			return
		}
	}
}

// learn sets the sender of l if b has the header field.
func (p *proxy) learn(l *link, b []byte) {
	const field = "\r\nX-Server-From: "
	_, rest, found := bytes.Cut(b, []byte(field))
	if !found {
		return
	}
	id, _, found := bytes.Cut(rest, []byte("\r\n"))
	if !found {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.sender = string(id)
}
