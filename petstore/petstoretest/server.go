// Package petstoretest starts a server of the petstore contract for tests of clients. Start
// with [New]:
//
//	srv := petstoretest.New(t, nil)
//	pet, err := srv.Client.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.IdempotencyKey{})
//
// With Options.Difficult the server does what the contract allows and a client may not
// expect. When the test ends, New reports the client's mistakes. A whole test is in
// examples/list.
//
// Other programs serve a [Handler].
package petstoretest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/client"
)

// Options are the settings of [New]. The zero value and nil are ready for use: the server
// then has an empty store in memory and no difficulties.
type Options struct {
	// Difficult makes the server difficult. nil: it is not. With a Handler it must be nil.
	Difficult *Difficulty

	// Handler serves the requests: your own, as your program mounts it, with its own store,
	// rules and keys. Such a server is not difficult and finds no mistakes. To judge
	// the handler itself, use package conformance/conformancetest. nil: a [Handler].
	Handler http.Handler

	// HandlerPath is the path at which Handler serves the contract, the part before /pets,
	// such as /api/v1. "": the root. The Client expects the messages there, too. Without a
	// Handler it must be "".
	HandlerPath string

	// HandlerKey is an API key that Handler accepts. Without a Handler it must be "".
	HandlerKey string
}

// Server is a running server of pets and messages.
type Server struct {
	URL    string         // the base address, such as http://127.0.0.1:34567/v1
	Key    string         // an API key that the server accepts
	Client *client.Client // calls the server with Key, with RetryWrites and short waits

	http    *httptest.Server
	handler *Handler // nil: the handler is the user's
}

// New starts a server that stops when t ends. Then each mistake that the server has found
// is an error of t. opts may be nil.
func New(t testing.TB, opts *Options) *Server {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	s, err := start(*opts)
	if err != nil {
		t.Fatalf("petstoretest: %v", err)
	}
	t.Cleanup(func() {
		s.http.Close()
		summary := s.Summary()
		for _, f := range summary.Findings {
			t.Error(f)
		}
		if opts.Difficult != nil {
			t.Log(summary)
		}
	})
	return s
}

func start(o Options) (*Server, error) {
	s := &Server{Key: o.HandlerKey}
	handler, prefix := o.Handler, strings.TrimSuffix(o.HandlerPath, "/")
	switch {
	case handler == nil && (o.HandlerPath != "" || o.HandlerKey != ""):
		return nil, errors.New("Options has a HandlerPath or a HandlerKey without a Handler")
	case handler != nil && o.Difficult != nil:
		return nil, errors.New("Options has a Handler and Difficult; a server with a handler of yours is not difficult")
	case handler == nil:
		var err error
		if s.handler, err = NewHandler(o.Difficult); err != nil {
			return nil, err
		}
		handler, prefix, s.Key = s.handler, basePath, Key
	}
	s.http = httptest.NewServer(handler)
	s.URL = s.http.URL + prefix
	// The server is on this machine, so the client need not wait long.
	options := &client.Options{RetryWrites: true, MinBackoff: 5 * time.Millisecond}
	var err error
	if s.Client, err = client.New(s.URL, s.Key, options); err != nil {
		s.http.Close()
		return nil, err
	}
	return s, nil
}

// Summary returns what the server has seen of its clients so far. It is empty if the
// server has a handler of yours.
func (s *Server) Summary() Summary {
	if s.handler == nil {
		return Summary{}
	}
	return s.handler.Summary()
}
