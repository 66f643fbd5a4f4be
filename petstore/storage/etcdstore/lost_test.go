package etcdstore_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// lossy is a proxy before a member. At random it closes a connection instead of
// passing on a response, when the member has already carried out the request.
type lossy struct {
	to    string
	every atomic.Int64 // one response in so many is lost; 0: none
	lost  atomic.Int64
}

func newLossy(t *testing.T) (*lossy, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	l := &lossy{to: strings.TrimPrefix(endpoint, "http://")}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go l.serve(conn)
		}
	}()
	return l, "http://" + ln.Addr().String()
}

func (l *lossy) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := to.Read(b)
		if err != nil {
			return
		}
		if every := l.every.Load(); every > 0 && rand.Int64N(every) == 0 {
			l.lost.Add(1)
			return
		}
		if _, err := from.Write(b[:n]); err != nil {
			return
		}
	}
}

// A creation whose response was lost is stored once, and its call succeeds.
func TestLostResponses(t *testing.T) {
	l, url := newLossy(t)
	prefix := newPrefix(t)
	const processes, callers, each = 2, 4, 40
	var stores []*etcdstore.Store
	for range processes {
		stores = append(stores, open(t, etcdstore.Config{Endpoints: []string{url}, Prefix: prefix, RequestTimeout: time.Minute}))
	}
	l.every.Store(10)
	var mu sync.Mutex
	names := map[int64]string{}
	var wg sync.WaitGroup
	for p, s := range stores {
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					name := fmt.Sprint(p, "-", c, "-", i)
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name, Status: petstore.StatusSold}, petstore.Once{})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					mu.Lock()
					names[pet.ID] = name
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	l.every.Store(0)
	t.Logf("%d responses were lost", l.lost.Load())
	if l.lost.Load() == 0 {
		t.Error("no response was lost")
	}
	stats, err := stores[0].Stats(t.Context())
	if err != nil || stats.Pets != processes*callers*each || int64(len(names)) != stats.Pets {
		t.Errorf("%d pets are stored (%v), %d were acknowledged, want %d", stats.Pets, err, len(names), processes*callers*each)
	}
	for id, name := range names {
		if pet, err := stores[1].GetPet(t.Context(), id); err != nil || pet.Name != name {
			t.Errorf("the pet %d is %+v (%v), want %s", id, pet, err, name)
		}
	}
}

// Every call ends by its timeout when the cluster is silent or gone, and succeeds
// when the cluster is back.
func TestSilence(t *testing.T) {
	const timeout = time.Second
	for _, tt := range []struct {
		name string
		hold bool
	}{{"silent", true}, {"gone", false}} {
		t.Run(tt.name, func(t *testing.T) {
			gate, url := newGate(t)
			s := open(t, etcdstore.Config{Endpoints: []string{url}, Prefix: newPrefix(t), RequestTimeout: timeout})
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
				t.Fatal(err)
			}
			gate.shut(tt.hold)
			calls := map[string]func() error{
				"get":    func() error { _, err := s.GetPet(t.Context(), 1); return err },
				"list":   func() error { _, err := s.ListPets(t.Context(), petstore.ListQuery{}); return err },
				"create": func() error { _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); return err },
				"submit": func() error { _, err := s.SubmitMessage(t.Context(), "", petstore.Once{}); return err },
				"remove": func() error { return s.RemoveMessages(t.Context(), "msg_1") },
				"ready":  func() error { return s.Ready(t.Context()) },
			}
			errs := make(chan error, len(calls))
			for name, call := range calls {
				go func() {
					err := call()
					if petstore.CodeOf(err) != petstore.CodeUnavailable {
						err = fmt.Errorf("%s: %v", name, err)
					} else {
						err = nil
					}
					errs <- err
				}()
			}
			late := time.After(timeout + 20*time.Second) // the machine may be busy
			for range calls {
				select {
				case err := <-errs:
					if err != nil {
						t.Error(err)
					}
				case <-late:
					t.Fatal("a call has not ended")
				}
			}
			gate.open()
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
				if err == nil {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the store does not recover: %v", err)
				}
			}
		})
	}
}

// gate is a proxy before a member. Nothing passes while it is shut.
type gate struct {
	to     string
	mu     sync.Mutex
	isShut bool
	held   bool // while it is shut, connections stay open
	conns  []net.Conn
}

func newGate(t *testing.T) (*gate, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{to: strings.TrimPrefix(endpoint, "http://")}
	t.Cleanup(func() { ln.Close(); g.shut(false) })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go g.serve(conn)
		}
	}()
	return g, "http://" + ln.Addr().String()
}

func (g *gate) shut(hold bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isShut, g.held = true, hold
	if !hold {
		g.drop()
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isShut = false
	g.drop() // what was held back is lost
}

func (g *gate) drop() {
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

var errShut = errors.New("the gate is shut")

// pass reports whether bytes may pass. It returns errShut if the connection must
// end.
func (g *gate) pass() (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isShut && !g.held {
		return false, errShut
	}
	return !g.isShut, nil
}

func (g *gate) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer to.Close()
	g.mu.Lock()
	g.conns = append(g.conns, from, to)
	g.mu.Unlock()
	go g.copy(to, from)
	g.copy(from, to)
}

func (g *gate) copy(dst, src net.Conn) {
	defer dst.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := src.Read(b)
		if err != nil {
			return
		}
		ok, err := g.pass()
		if err != nil {
			return
		}
		if ok {
			if _, err := dst.Write(b[:n]); err != nil {
				return
			}
		}
	}
}
