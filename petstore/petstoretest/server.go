// Package petstoretest starts a server of the petstore contract for tests. Start
// with [New]:
//
//	srv := petstoretest.New(t)
//	pet, err := srv.Client.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.Once{})
//
// With the option [Difficult] the server does what the contract allows and a
// client may not expect. When the test ends, New reports the client's mistakes. A
// whole test is in examples/list.
package petstoretest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Server is a running server of pets and messages.
type Server struct {
	URL    string           // the base address, such as http://127.0.0.1:34567/v1
	Key    string           // an API key that the server accepts
	Client *client.Client   // calls the server, with Key
	Store  petstore.Service // the pets, with the IDs and the order that the server shows: with the difficulty ids, half of the IDs are negative

	main, other *httptest.Server // other: nil without Difficult
	difficult   *difficult       // nil without Difficult
}

const base = "/v1"

// New starts a server that stops when t ends. If the server is difficult, New then
// reports the client's mistakes as errors of t, and writes the notes into its log.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, f := range s.Summary().Findings {
			if f.Certain {
				t.Error(f)
			} else {
				t.Log(f)
			}
		}
	})
	return s
}

// Start starts a server that runs until Close.
func Start(opts ...Option) (*Server, error) {
	c := config{addr: "127.0.0.1:0"}
	for _, option := range opts {
		option(&c)
	}
	if c.store == nil {
		c.store = memory.New(nil)
	}
	s := &Server{Key: theKey, Store: c.store}
	if c.difficult {
		var err error
		if s.difficult, err = newDifficult(c); err != nil {
			return nil, err
		}
		s.Store = s.difficult.store
		if s.other, err = listen("127.0.0.1:0", http.HandlerFunc(s.difficult.serveElsewhere)); err != nil {
			return nil, err
		}
		s.difficult.elsewhere = s.other.URL + base
	}
	messages, _ := c.store.(petstore.Messages)
	h := http.StripPrefix(base, httpapi.New(s.Store, Keys{theKey: "tester"}, &httpapi.Options{Messages: messages}))
	if c.difficult {
		s.difficult.next = h
		h = s.difficult
	}
	var err error
	if s.main, err = listen(c.addr, h); err != nil {
		s.Close()
		return nil, err
	}
	s.URL = s.main.URL + base
	// The server is on this machine, so the client need not wait long.
	if s.Client, err = client.New(s.URL, s.Key, &client.Options{MinWait: 5 * time.Millisecond}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for the requests that are under way, and stops the server. After one
// second it cuts their connections, since a client may never end a request.
func (s *Server) Close() {
	for _, srv := range []*httptest.Server{s.main, s.other} {
		if srv != nil {
			defer time.AfterFunc(time.Second, srv.CloseClientConnections).Stop()
			defer srv.Close()
		}
	}
}

// listen serves h at addr.
func listen(addr string, h http.Handler) (*httptest.Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("petstoretest: %w", err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	srv.Start()
	return srv, nil
}
