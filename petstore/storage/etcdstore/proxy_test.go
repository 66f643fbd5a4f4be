package etcdstore_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// proxy is what a client reaches instead of a member, with faults.
type proxy struct {
	url  string
	to   atomic.Pointer[string] // the URL of the member
	hold atomic.Bool            // connections stay open, and nothing passes
	gone atomic.Bool            // connections are closed
	// Every so often, counted in responses, a response is lost together with
	// its connection, after the member has carried out the request. 0: never.
	every atomic.Int64
	lost  atomic.Int64 // how many
	delay atomic.Int64 // how much later responses arrive, in nanoseconds
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{url: "http://" + ln.Addr().String()}
	p.to.Store(&to)
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
	to, err := net.Dial("tcp", strings.TrimPrefix(*p.to.Load(), "http://"))
	if err != nil {
		return
	}
	go func() {
		defer to.Close()
		_, _ = io.Copy(writer{proxy: p, conn: to}, from)
	}()
	late := make(chan lateBytes, 1000)
	defer close(late)
	go func() {
		for b := range late {
			time.Sleep(time.Until(b.at))
			_, _ = from.Write(b.bytes)
		}
	}()
	_, _ = io.Copy(writer{p, from, late}, to)
	to.Close()
}

// lateBytes are what arrives at the client at some time.
type lateBytes struct {
	at    time.Time
	bytes []byte
}

// writer passes on what the proxy lets through.
type writer struct {
	*proxy
	conn net.Conn
	late chan lateBytes // to the client; nil: to the member
}

func (w writer) Write(b []byte) (int, error) {
	switch every := w.every.Load(); {
	case w.gone.Load():
		return 0, io.ErrClosedPipe
	case w.hold.Load():
		return len(b), nil
	case w.late == nil:
		return w.conn.Write(b)
	case every > 0 && rand.Int64N(every) == 0:
		w.lost.Add(1)
		return 0, io.ErrClosedPipe
	}
	w.late <- lateBytes{time.Now().Add(time.Duration(w.delay.Load())), bytes.Clone(b)}
	return len(b), nil
}
