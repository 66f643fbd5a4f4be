package etcdstore_test

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// proxy is what a client reaches instead of a member, with faults.
type proxy struct {
	url  string
	to   string      // the address of the member
	hold atomic.Bool // connections stay open, and nothing passes
	gone atomic.Bool // connections are closed
	// Every so often, counted in responses, a response is lost together with
	// its connection, after the member has carried out the request. 0: never.
	every atomic.Int64
	lost  atomic.Int64 // how many
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{url: "http://" + ln.Addr().String(), to: strings.TrimPrefix(to, "http://")}
	t.Cleanup(func() { ln.Close(); p.gone.Store(true) })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *proxy) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	go func() {
		defer to.Close()
		_, _ = io.Copy(writer{p, to, false}, from)
	}()
	_, _ = io.Copy(writer{p, from, true}, to)
	to.Close()
}

// writer passes on what the proxy lets through.
type writer struct {
	*proxy
	to       io.Writer
	response bool
}

func (w writer) Write(b []byte) (int, error) {
	switch every := w.every.Load(); {
	case w.gone.Load():
		return 0, io.ErrClosedPipe
	case w.hold.Load():
		return len(b), nil
	case w.response && every > 0 && rand.Int64N(every) == 0:
		w.lost.Add(1)
		return 0, io.ErrClosedPipe
	}
	return w.to.Write(b)
}
