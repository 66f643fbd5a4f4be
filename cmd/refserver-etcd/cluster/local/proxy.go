package local

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// proxy stands before the address that a member listens for others on. It can
// keep silent on the connections of some of them: what they send is not passed
// on, and neither are answers, as if the network had been cut.
//
// Who connects is told by the header field that every request of one member to
// another carries.
type proxy struct {
	addr, to string
	ln       net.Listener

	mu    sync.Mutex
	cut   map[string]bool // by member id; "": everybody
	conns map[*link]struct{}
}

// link is a connection through a proxy.
type link struct {
	from, to net.Conn
	sender   string // member id; "": not known
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

// setCut has the proxy be silent to a sender, or to everybody if it is "".
func (p *proxy) setCut(sender string, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cut {
		p.cut[sender] = true
		return
	}
	delete(p.cut, sender)
	// A network that comes back resets what was cut: the bytes are lost.
	for l := range p.conns {
		if sender == "" || l.sender == sender {
			l.close()
		}
	}
}

// silent reports whether nothing may pass on l.
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

// pass copies from src to dst, and drops what comes while the link is cut.
func (p *proxy) pass(l *link, src, dst net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := src.Read(b)
		if n > 0 {
			if src == l.from {
				p.learn(l, b[:n])
			}
			if p.silent(l) {
				// Once bytes are lost the connection is of no more use.
				p.hold(l)
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

// hold keeps a cut connection open and silent until the cut is over.
func (p *proxy) hold(l *link) {
	for p.silent(l) {
		time.Sleep(20 * time.Millisecond)
		if _, err := l.from.Write(nil); err != nil {
			return
		}
	}
}

// learn finds out who sends.
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
