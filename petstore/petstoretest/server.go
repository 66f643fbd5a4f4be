// Package petstoretest starts a server of the petstore contract for tests. Start
// with [New]:
//
//	srv := petstoretest.New(t, nil)
//	pet, err := srv.Client.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.IdempotencyKey{})
//
// To test your own handler, pass it as Options.Handler. With Options.Difficult the server
// does what the contract allows and a client may not expect. When the test ends, New
// reports the client's mistakes. A whole test is in examples/list.
package petstoretest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Server is a running server of pets and messages.
type Server struct {
	URL    string         // the base address, such as http://127.0.0.1:34567/v1
	Key    string         // an API key that the server accepts
	Client *client.Client // calls the server with Key, with RetryWrites and short waits

	http      *httptest.Server
	difficult *difficult // nil without Difficult
}

// New starts a server that stops when t ends. If the server is difficult, New then
// reports the client's mistakes as errors of t. opts may be nil.
func New(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, f := range s.Summary().Findings {
			t.Error(f)
		}
	})
	return s
}

// Start starts a server that runs until Close. opts may be nil.
func Start(opts *Options) (*Server, error) {
	o, err := opts.complete()
	if err != nil {
		return nil, err
	}
	if o.Store == nil {
		o.Store = memory.New(nil)
	}
	if o.Middleware == nil {
		o.Middleware = func(h http.Handler) http.Handler { return h }
	}
	s := &Server{Key: o.Key}
	h := o.Handler
	if h == nil {
		messages, _ := o.Store.(petstore.Messages)
		h = http.StripPrefix(o.Prefix, httpapi.New(o.Store, apikey.Static{o.Key: "tester"}, &httpapi.Options{Messages: messages}))
	}
	if o.Difficult != nil {
		if s.difficult, err = newDifficult(o, h); err != nil {
			return nil, err
		}
		h = s.difficult
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("petstoretest: %w", err)
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: o.Middleware(h)}}
	s.http.Start()
	s.URL = s.http.URL + o.Prefix
	// The server is on this machine, so the client need not wait long.
	if s.Client, err = client.New(s.URL, s.Key, &client.Options{RetryWrites: true, MinBackoff: 5 * time.Millisecond}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for the requests that are under way, and stops the server. After one
// second it cuts their connections, since a client may never end a request.
func (s *Server) Close() {
	defer time.AfterFunc(time.Second, s.http.CloseClientConnections).Stop()
	s.http.Close()
}
